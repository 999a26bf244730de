import Glibc
package import LinuxSystem

/// An open file that closes itself with its last owner.
package final class OwnedDescriptor: Sendable {
    /// The descriptor; valid as long as this object lives.
    package let number: Int32

    /// Takes over the descriptor.
    package init(_ number: Int32) { self.number = number }

    deinit { close(number) }
}

/// Where the bytes of an item come from.
package enum MediaSource: Sendable {
    /// A file of this host, by its absolute path.
    case file(FilePath)
    /// A file of this host that a client may use only because of the folder it is in: judged again whenever it is opened.
    case confined(ConfinedPath)
    /// An open file that a client handed over; the name is only shown.
    case descriptor(OwnedDescriptor, name: String)
    /// A part of a file.
    case segment(MediaSegment)

    /// The address shown to people and programs: `file:///…` percent-encoded, or the name that came with a descriptor.
    package var uri: String {
        switch self {
        case .file(let path): MediaSource.fileURI(path)
        case .confined(let place): MediaSource.fileURI(place.path)
        case .descriptor(_, let name): name
        case .segment(let segment): segment.uri
        }
    }

    /// What the item is called when nothing better is known: the file's name without its ending, valid UTF-8 in any case.
    package var displayName: String {
        let name: ArraySlice<UInt8>
        switch self {
        case .file(let path): name = path.name
        case .confined(let place): name = place.path.name
        case .descriptor(_, let shown):
            let bytes = Array(shown.utf8)
            name = bytes.split(separator: UInt8(ascii: "/")).last ?? bytes[...]
        case .segment(let segment): return segment.audio.displayName
        }
        let dot = name.dropFirst().lastIndex(of: UInt8(ascii: "."))
        return String(decoding: name[..<(dot ?? name.endIndex)], as: UTF8.self)
    }

    /// A path as a `file://` URI (RFC 8089), everything but unreserved characters and `/` percent-encoded (RFC 3986 §2.3).
    package static func fileURI(_ path: FilePath) -> String {
        var result = "file://"
        result.reserveCapacity(path.bytes.count + 16)
        let digits = Array("0123456789ABCDEF".unicodeScalars)
        for byte in path.bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                result.unicodeScalars.append("%")
                result.unicodeScalars.append(digits[Int(byte >> 4)])
                result.unicodeScalars.append(digits[Int(byte & 15)])
            }
        }
        return result
    }
}

import Glibc
package import LinuxSystem
package import NowPlaying
import Synchronization

/// A network source, by its address. An address may contain a user name and a password, which are used but never shown.
package final class RemoteMedia: Sendable {
    /// The whole address, with user name and password.
    package let address: String
    /// The address for all clients, without user name and password.
    package let shownAddress: String
    /// True if the client that named it may use addresses of this host.
    package let mayUseLoopback: Bool
    private let opened = Mutex<OpenedAhead?>(nil)
    private let wasPublicFlag = Mutex(false)
    private let brokenBeginning = Mutex<[UInt8]>([])

    private struct OpenedAhead: @unchecked Sendable {
        // @unchecked: one thread at a time uses a decoder; this struct hands it to the next thread.
        let decoder: any AudioDecoder
        let time: MonotonicTime
    }

    /// Seconds after which a kept decoder is not used any more: its client has moved on, and its connection may be
    /// dead.
    private static let patience = 10.0

    /// A source of a validated address, http or https.
    package init(address: String, shownAddress: String, mayUseLoopback: Bool) {
        self.address = address
        self.shownAddress = shownAddress
        self.mayUseLoopback = mayUseLoopback
    }

    /// Keeps a decoder that was opened ahead for the next `takeKept`. Any thread; the caller must not use the decoder
    /// any more. `time`: the present instant.
    package func keep(_ decoder: any AudioDecoder, at time: MonotonicTime = EventLoop.now) {
        let kept = OpenedAhead(decoder: decoder, time: time)
        opened.withLock { $0 = kept }
    }

    /// Takes the kept decoder; one that was kept too long ago ends. Any thread; the caller becomes its only user.
    /// `time`: the present instant.
    package func takeKept(at time: MonotonicTime = EventLoop.now) -> (any AudioDecoder)? {
        let kept = opened.withLock { kept in
            defer { kept = nil }
            return kept
        }
        guard let kept, time.seconds(since: kept.time) <= Self.patience else { return nil }
        return kept.decoder
    }

    /// Fingerprint of the first bytes of a stream that broke and may have been a file; empty: none. The next opening compares
    /// its own with it. Any thread.
    package var beginning: [UInt8] {
        get { brokenBeginning.withLock { $0 } }
        set { brokenBeginning.withLock { $0 = newValue } }
    }

    /// True if its address was public before: then it must not resolve or redirect to the local network later.
    package var wasPublic: Bool {
        get { wasPublicFlag.withLock { $0 } }
        set { wasPublicFlag.withLock { $0 = newValue } }
    }
}

/// Source of an item's bytes. Eight bytes, so that an entry of a long queue is small: the two rare cases that hold a name keep
/// it in a box.
package enum MediaSource: Sendable {
    /// A file of this host, by its absolute path; `file` makes it.
    case plain(PackedPath)
    /// A file of this host that a client may use only because of its folder; checked again at each opening.
    case confined(ConfinedPath)
    /// An open file that a client handed over; the name is only shown.
    indirect case descriptor(OwnedDescriptor, name: String)
    /// A part of a file.
    case segment(MediaSegment)
    /// A stream or file on the network.
    case remote(RemoteMedia)
    /// An open file that a client handed to an earlier run of the daemon: it can't be had any more.
    indirect case handedOver(name: String)

    /// A file of this host, by its absolute path.
    package static func file(_ path: FilePath) -> MediaSource { .plain(PackedPath(path)) }

    /// The address shown to people and programs: `file:///…` percent-encoded, or the name that came with a descriptor.
    package var uri: String {
        switch self {
        case .plain(let path): path.withBytes(MediaSource.fileURI)
        case .confined(let file): MediaSource.fileURI(file.path)
        case .descriptor(_, let name), .handedOver(let name): name
        case .segment(let segment): segment.uri
        case .remote(let media): media.shownAddress
        }
    }

    /// The path that opens it; nil: no path does.
    package var path: FilePath? {
        switch self {
        case .plain(let path): path.path
        case .confined(let file): file.path
        case .segment(let segment): segment.audio.path
        case .descriptor, .remote, .handedOver: nil
        }
    }

    /// Bytes of its path, address or name. A part of a file also counts those of its sheet.
    package var nameBytes: Int {
        switch self {
        case .plain(let path): path.count
        case .confined(let file): file.root.bytes.count + file.relative.bytes.count
        case .descriptor(_, let name), .handedOver(let name): name.utf8.count
        case .segment(let segment): segment.audio.nameBytes + segment.sheet.nameBytes
        case .remote(let media): media.address.utf8.count + media.shownAddress.utf8.count
        }
    }

    /// True if it keeps a descriptor open: a client's file, or a connection that was opened ahead.
    package var holdsDescriptors: Bool {
        switch self {
        case .descriptor, .remote: true
        case .segment(let segment): segment.audio.holdsDescriptors || segment.sheet.holdsDescriptors
        case .plain, .confined, .handedOver: false
        }
    }

    /// True for an address on the network; false for a file.
    package var isRemote: Bool {
        if case .remote = self { return true }
        return false
    }

    /// True for a file, or a part of one, that this host has open or can open.
    package var isLocalFile: Bool {
        switch self {
        case .plain, .confined, .descriptor: true
        case .segment(let segment): segment.audio.isLocalFile
        case .remote, .handedOver: false
        }
    }

    /// Name of an item without a title: the file's name without its suffix, always valid UTF-8.
    package var displayName: String {
        let name: ArraySlice<UInt8>
        switch self {
        case .plain(let path): name = path.path.name
        case .confined(let file): name = file.path.name
        case .descriptor(_, let shown), .handedOver(let shown):
            let bytes = Array(shown.utf8)
            name = bytes.split(separator: UInt8(ascii: "/")).last ?? bytes[...]
        case .segment(let segment): return segment.audio.displayName
        case .remote(let media): return media.shownAddress
        }
        let dot = name.dropFirst().lastIndex(of: UInt8(ascii: "."))
        let stem = name[..<(dot ?? name.endIndex)]
        return String(validating: stem, as: UTF8.self) ?? Self.latin1(stem)
    }

    /// Decodes a name in Latin-1; bytes without a character become U+FFFD.
    private static func latin1(_ bytes: ArraySlice<UInt8>) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(
            contentsOf: bytes.lazy.map { (0x80..<0xA0).contains($0) ? "\u{FFFD}" : Unicode.Scalar($0) })
        return String(scalars)
    }

    /// A path as a `file://` URI (RFC 8089); all bytes except unreserved characters and `/` are percent-encoded (RFC
    /// 3986 §2.3).
    package static func fileURI(_ path: FilePath) -> String { path.bytes.withUnsafeBufferPointer(fileURI) }

    private static func fileURI(_ path: UnsafeBufferPointer<UInt8>) -> String {
        let encoded = path.reduce(0) { $0 + (isPlain($1) ? 0 : 1) }
        // This writes byte by byte into the string's memory, because pages of a library have a URI in each row.
        return String(unsafeUninitializedCapacity: scheme.utf8.count + path.count + 2 * encoded) { output in
            var end = output.initialize(fromContentsOf: scheme.utf8)
            for byte in path {
                if isPlain(byte) {
                    output[end] = byte
                    end += 1
                } else {
                    output[end] = UInt8(ascii: "%")
                    output[end + 1] = digit(byte >> 4)
                    output[end + 2] = digit(byte & 15)
                    end += 3
                }
            }
            return end
        }
    }

    private static let scheme = "file://"

    /// True if a URI contains this byte of a path unchanged. The dot and the slash stand between the hyphen and the
    /// digits.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "-")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

/// Messages between the daemon and nowplaying-decode. Orders use a socket, answers a pipe (the same socket for
/// pictures). A message has 8 bytes of header (kind, three zero bytes, length of the body as UInt32) and a body; all
/// numbers are little-endian. The daemon treats messages of the child as hostile: any deviation from this format ends
/// the child.
package enum WireMessage: UInt8, Sendable {
    /// To the child: the source to open (`OpenRequest`), once, as the first message.
    case open = 1
    /// To the child: seek to a frame (`WireSeek`).
    case seek = 2
    /// To the child: the pictures to find (`PictureRequest`), once, instead of `open`.
    case look = 3
    /// To the child: measure the loudness of the file (`OpenRequest`), once, instead of `open`.
    case measure = 4
    /// From the child, once: the description of the source (`OpenedMedia`).
    case opened = 16
    /// From the child: whole frames, in the order of playback.
    case audio = 17
    /// From the child: the tags of the following frames.
    case metadata = 18
    /// From the child: frames after this begin at the requested position (`WireSeek`).
    case seeked = 19
    /// From the child: the last frame was sent. A seek may follow.
    case end = 20
    /// From the child: the source failed (`WireFailure`). Nothing follows.
    case failed = 21
    /// From the child: bytes come, but no audio yet. Empty.
    case progress = 22
    /// From the child, before `failed`: the fingerprint of a stream that may be a file (`StreamBeginning`).
    case beginning = 23
    /// From the child: a picture begins (`WirePicture`).
    case picture = 32
    /// From the child: the next bytes of the picture in progress.
    case piece = 33
    /// From the child, once: the loudness of the whole file (`WireLoudness`).
    case measured = 34

    /// Bytes of a header.
    package static let headerBytes = 8
    /// Maximum bytes of a body of audio or of a piece of a picture.
    package static let maximumAudioBytes = 768 << 10
    /// Maximum bytes of any other body.
    package static let maximumBodyBytes = 640 << 10

    /// A header for a body of `count` bytes.
    package func header(count: Int) -> [UInt8] {
        var writer = WireWriter()
        writer.integer(rawValue)
        writer.integer(UInt8(0))
        writer.integer(UInt16(0))
        writer.integer(UInt32(count))
        return writer.bytes
    }

    /// Reads a header. Throws `WireError` if it is invalid, or announces more than the limit of its kind.
    package static func header(
        _ bytes: some Collection<UInt8>
    ) throws(WireError) -> (kind: WireMessage, count: Int) {
        var reader = WireReader(bytes)
        let code = try reader.integer(UInt8.self)
        guard let kind = WireMessage(rawValue: code) else { throw WireError("a message of the unknown kind \(code)") }
        guard try reader.integer(UInt8.self) == 0, try reader.integer(UInt16.self) == 0 else {
            throw WireError("a header with unknown bits")
        }
        let count = Int(try reader.integer(UInt32.self))
        guard count <= (kind == .audio || kind == .piece ? maximumAudioBytes : maximumBodyBytes) else {
            throw WireError("a message of \(count) bytes")
        }
        return (kind, count)
    }
}

/// A violation of the wire format, as text.
package struct WireError: Error, Equatable, Sendable {
    package let message: String

    /// An error with this text, a noun phrase.
    package init(_ message: String) { self.message = message }
}

/// Writes numbers and texts one after the other.
package struct WireWriter {
    package private(set) var bytes: [UInt8] = []

    /// A writer without bytes.
    package init() {}

    /// Appends a number.
    package mutating func integer(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends a text, cut at 65,535 bytes.
    package mutating func text(_ value: String) {
        let part = Array(value.utf8.prefix(Int(UInt16.max)))
        integer(UInt16(part.count))
        bytes.append(contentsOf: part)
    }
}

/// Reads numbers and texts from hostile bytes.
package struct WireReader {
    private var rest: ArraySlice<UInt8>

    /// Reads these bytes from the start.
    package init(_ bytes: some Collection<UInt8>) { rest = Array(bytes)[...] }

    /// True if the reader has consumed all bytes.
    package var isAtEnd: Bool { rest.isEmpty }

    /// The next number. Throws `WireError` if there is none.
    package mutating func integer<Number: FixedWidthInteger>(_: Number.Type) throws(WireError) -> Number {
        let size = MemoryLayout<Number>.size
        guard rest.count >= size else { throw WireError("a message that ends too soon") }
        var value = Number.zero
        for byte in rest.prefix(size).reversed() {
            value = (size > 1 ? value << 8 : 0) | Number(truncatingIfNeeded: byte)
        }
        rest = rest.dropFirst(size)
        return value
    }

    /// The next text as bytes, at most `limit` of them. Throws `WireError` if there is none or it is longer.
    package mutating func bytes(limit: Int) throws(WireError) -> [UInt8] {
        let count = Int(try integer(UInt16.self))
        guard count <= limit else { throw WireError("a text of \(count) bytes") }
        guard rest.count >= count else { throw WireError("a message that ends too soon") }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// The next text. Throws `WireError` if there is none, it is longer than `limit` bytes or not UTF-8.
    package mutating func text(limit: Int) throws(WireError) -> String {
        guard let text = String(validating: try bytes(limit: limit), as: UTF8.self) else {
            throw WireError("a text that is not UTF-8")
        }
        return text
    }

    /// Throws `WireError` if bytes are left.
    package func end() throws(WireError) {
        if !rest.isEmpty { throw WireError("a message with \(rest.count) bytes too many") }
    }
}

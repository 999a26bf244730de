import AudioCore

/// The comments of a VORBIS_COMMENT block (RFC 9639 §8.6), as many as are of use, read without taking the block as a whole:
/// it may claim 16 MiB and hold a picture.
struct VorbisComments {
    /// Values by name in upper case, in the order of the file.
    private(set) var values: [String: [String]] = [:]

    /// Limits of what is looked at; whoever writes more has more to hide than to tell.
    private static let maximumComments = 4096
    private static let maximumReadBytes = 1 << 20
    private static let maximumValuesPerName = 32
    private static let maximumNameBytes = 48

    /// No comments.
    init() {}

    /// Reads the block of `length` bytes at `offset`. What contradicts itself is left out. Throws only if reading fails.
    init(in file: MediaFile, at offset: Int64, length: Int) throws(DecodingError) {
        let end = min(offset + Int64(length), file.size)
        var position = offset
        func number() throws(DecodingError) -> Int? {
            guard position + 4 <= end else { return nil }
            let bytes = try file.bytes(at: position, count: 4)
            guard bytes.count == 4 else { return nil }
            position += 4
            return bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        guard let vendorLength = try number() else { return }
        position += Int64(vendorLength)
        guard let count = try number() else { return }
        var readBytes = 0
        for _ in 0..<min(count, Self.maximumComments) {
            guard let length = try number(), position + Int64(length) <= end else { break }
            let wanted = min(length, Self.maximumNameBytes + 1 + TagText.maximumBytes + 4)
            readBytes += wanted + 4
            if readBytes > Self.maximumReadBytes { break }
            add(try file.bytes(at: position, count: wanted))
            position += Int64(length)
        }
    }

    /// Takes up one comment, `NAME=value`.
    private mutating func add(_ comment: [UInt8]) {
        guard let separator = comment.prefix(Self.maximumNameBytes + 1).firstIndex(of: UInt8(ascii: "=")) else {
            return
        }
        let name = String(decoding: comment[..<separator], as: UTF8.self).uppercased()
        guard VorbisComments.knownNames.contains(name), values[name, default: []].count < Self.maximumValuesPerName,
            let text = TagText.text(comment[(separator + 1)...])
        else { return }
        values[name, default: []].append(text)
    }
}

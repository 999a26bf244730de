import AudioCore
import TrackReading

/// The useful comments of a VORBIS_COMMENT block (RFC 9639 §8.6). It does not read the block as a whole, because a
/// block may have 16 MiB and contain a picture.
struct VorbisComments {
    /// Fields read so far.
    private(set) var fields = TagFields()

    /// Maximum number of comments; a file with more is suspicious.
    private static let maximumComments = 4096
    private static let maximumReadBytes = 1 << 20
    private static let maximumCommentBytes = TagFields.maximumNameBytes + 1 + TagText.maximumBytes + 4

    /// No comments.
    init() {}

    /// Reads the block of `length` bytes at `offset`. Skips invalid comments. Throws only if reading fails.
    init(in file: MediaFile, at offset: Int64, length: Int) throws(DecodingError) {
        try self.init(from: offset, to: min(offset + Int64(length), file.size)) {
            position, count throws(DecodingError) in try file.bytes(at: position, count: count)
        }
    }

    /// Reads the comments from `start` to before `end`, in the positions of `read`. Throws the errors of `read`.
    init(
        from start: Int64, to end: Int64, read: (_ position: Int64, _ count: Int) throws(DecodingError) -> [UInt8]
    ) throws(DecodingError) {
        var position = start
        func number() throws(DecodingError) -> Int? {
            guard position + 4 <= end else { return nil }
            let bytes = try read(position, 4)
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
            let wanted = min(length, Self.maximumCommentBytes)
            readBytes += wanted + 4
            if readBytes > Self.maximumReadBytes { break }
            add(try read(position, wanted))
            position += Int64(length)
        }
    }

    /// Takes comments from a library; `comment` returns the first `limit` bytes of the comment with this index.
    init(count: Int, comment: (_ index: Int, _ limit: Int) -> [UInt8]) {
        for index in 0..<min(count, Self.maximumComments) { add(comment(index, Self.maximumCommentBytes)) }
    }

    /// Adds a comment, `NAME=value`.
    private mutating func add(_ comment: [UInt8]) {
        guard let separator = comment.prefix(TagFields.maximumNameBytes + 1).firstIndex(of: UInt8(ascii: "=")) else {
            return
        }
        let name = String(decoding: comment[..<separator], as: UTF8.self).uppercased()
        if fields.takeMark(name, TagText.text(comment[(separator + 1)...])) { return }
        guard TagFields.knownNames.contains(name) else { return }
        fields.add(name, TagText.text(comment[(separator + 1)...]))
    }
}

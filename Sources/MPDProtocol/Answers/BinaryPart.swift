/// A part of a file that a client reads piece by piece, as with `albumart`.
package struct BinaryPart: Equatable, Sendable {
    /// Bytes of the file in this part; none at its end.
    package let range: Range<Int>
    /// Bytes of the whole file.
    package let size: Int

    /// Maximum bytes of a part. Clients expect parts that are shorter than they request.
    package static let maximumLimit = 128 << 10

    /// The part from an offset on. `limit`: maximum bytes. Throws MPD's message for an offset beyond the end.
    package init(from offset: Int, of size: Int, limit: Int) throws(MPDFailure) {
        guard offset >= 0, offset <= size else { throw MPDFailure(.argument, "Bad file offset") }
        range = offset..<(offset + min(max(0, limit), size - offset))
        self.size = size
    }

    /// Reads the argument of `binarylimit`. Throws MPD's message.
    package static func limit(_ argument: Argument) throws(MPDFailure) -> Int {
        let limit = try argument.count()
        guard limit >= 64 else { throw MPDFailure(.argument, "Value too small") }
        return min(limit, maximumLimit)
    }
}

extension AnswerWriter {
    /// Writes a part of a file after the size of the file and its type (nil: none is written). `bytes`: the bytes of the
    /// part's range.
    package mutating func part(_ part: BinaryPart, type: String?, _ bytes: some Collection<UInt8>) {
        pair("size", part.size)
        if let type { pair("type", type) }
        binary(bytes)
    }
}

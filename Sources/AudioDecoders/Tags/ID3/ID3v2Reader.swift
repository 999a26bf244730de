import AudioCore

/// Reads the body of an ID3v2 tag from front to back, without the zero bytes that "unsynchronisation" put after each
/// 0xFF (ID3v2.3 §5). It keeps no bytes that it skips.
struct ID3v2Reader {
    private let file: MediaFile
    /// End of the tag in the file.
    let end: Int64
    /// True if 0xFF 0x00 stands for 0xFF.
    private let isUnsynchronised: Bool
    /// Offset of the next read in the file.
    private(set) var offset: Int64
    private var lastWasFF = false
    /// Bytes that it may still read: a longer tag is suspicious.
    private var budget = 1 << 20

    /// Reads from `offset` to `end`.
    init(file: MediaFile, offset: Int64, end: Int64, isUnsynchronised: Bool) {
        self.file = file
        self.offset = offset
        self.end = min(end, file.size)
        self.isUnsynchronised = isUnsynchronised
    }

    /// Bytes left in the tag, in its form in the file.
    var left: Int64 { end - offset }

    /// The next `count` bytes; fewer where the tag or the budget ends. Throws read errors.
    mutating func read(_ count: Int) throws(DecodingError) -> [UInt8] {
        var result: [UInt8] = []
        while result.count < count, left > 0, budget > 0 {
            let chunk = try file.bytes(at: offset, count: Int(min(Int64(count - result.count), left)))
            if chunk.isEmpty { break }
            offset += Int64(chunk.count)
            budget -= chunk.count
            guard isUnsynchronised else { return chunk }
            for byte in chunk {
                if !(lastWasFF && byte == 0) { result.append(byte) }
                lastWasFF = byte == 0xFF
            }
        }
        return result
    }

    /// Skips `count` bytes. Throws read errors.
    mutating func skip(_ count: Int) throws(DecodingError) {
        if !isUnsynchronised {
            offset += Int64(count)
            return
        }
        var rest = count
        while rest > 0 {
            let got = try read(min(rest, 32 << 10)).count
            if got == 0 { break }
            rest -= got
        }
    }
}

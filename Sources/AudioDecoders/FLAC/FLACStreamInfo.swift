import AudioCore

/// STREAMINFO, the one block that every FLAC file has (RFC 9639 §8.2).
struct FLACStreamInfo {
    /// Bytes of the block, without its header.
    static let byteCount = 34
    /// Longest block that it can describe.
    static let maximumBlockFrames = 65_535

    /// The block as it is in the file.
    let bytes: [UInt8]

    /// Frames in the shortest block, the last one aside.
    var minimumBlockFrames: Int { number(at: 0, count: 2) }
    /// Frames in the longest block; equals the minimum where all blocks but the last have the same length.
    var maximumBlockFrames: Int { number(at: 2, count: 2) }
    /// Frames a second.
    var sampleRate: Int { number(at: 10, count: 3) >> 4 }
    /// 1 to 8.
    var channels: Int { Int(bytes[12] >> 1 & 7) + 1 }
    /// Significant bits of a sample, 4 to 32.
    var bitsPerSample: Int { (Int(bytes[12] & 1) << 4 | Int(bytes[13] >> 4)) + 1 }
    /// Frames from beginning to end; nil: the encoder did not know.
    var lengthInFrames: Int64? {
        let length = Int64(bytes[13] & 15) << 32 | Int64(number(at: 14, count: 4))
        return length == 0 ? nil : length
    }

    /// STREAMINFO with the block length of the first frame; nil: the length is right.
    func corrected(by first: FLACFrameHeader) -> FLACStreamInfo? {
        // A single block may be shorter.
        guard first.numbersBlocks, first.firstSample == 0, first.blockFrames != minimumBlockFrames,
            (1...Self.maximumBlockFrames).contains(first.blockFrames),
            Int64(first.blockFrames) < lengthInFrames ?? .max
        else { return nil }
        let length = [UInt8(first.blockFrames >> 8), UInt8(truncatingIfNeeded: first.blockFrames)]
        var corrected: [UInt8] = length + length
        corrected += bytes[4...]
        return FLACStreamInfo(corrected)
    }

    /// The bytes of STREAMINFO with an unknown length of the stream.
    var bytesWithoutLength: [UInt8] {
        var bytes = bytes
        bytes[13] &= 0xF0
        for index in 14..<18 { bytes[index] = 0 }
        return bytes
    }

    /// STREAMINFO for a stream with frames like this one; nil: none can describe it.
    init?(ofStreamWith header: FLACFrameHeader) {
        let lengths = header.numbersBlocks ? header.blockFrames...header.blockFrames : 1...Self.maximumBlockFrames
        guard lengths.upperBound <= Self.maximumBlockFrames else { return nil }
        let numbers =
            UInt64(header.sampleRate) << 44 | UInt64(header.channels - 1) << 41 | UInt64(header.bitsPerSample - 1) << 36
        var made: [UInt8] = []
        for length in [lengths.lowerBound, lengths.upperBound] { made += [UInt8(length >> 8), UInt8(length & 0xFF)] }
        made += [UInt8](repeating: 0, count: 6)
        for index: UInt64 in 0..<8 { made.append(UInt8(truncatingIfNeeded: numbers >> (56 - 8 * index))) }
        made += [UInt8](repeating: 0, count: 16)
        bytes = made
    }

    /// Takes the block; nil if its length is not `byteCount`.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Throws `.broken` if the values cannot be played.
    func check() throws(DecodingError) {
        // The format forbids less than 16, but the reference decoder plays it.
        if minimumBlockFrames < 1 || maximumBlockFrames < minimumBlockFrames {
            throw DecodingError(.broken, "its FLAC header is damaged: invalid block size")
        }
        if sampleRate == 0 { throw DecodingError(.broken, "its header claims a sample rate of 0") }
        if sampleRate > DecoderRegistry.maximumSampleRate {
            throw DecodingError(
                .broken, "its sample rate is \(sampleRate) Hz; the sound server takes at most 384 kHz")
        }
        if bitsPerSample < 4 { throw DecodingError(.broken, "its header claims samples of \(bitsPerSample) bits") }
    }

    private func number(at index: Int, count: Int) -> Int {
        bytes[index..<index + count].reduce(0) { $0 << 8 | Int($1) }
    }
}

/// The header of a frame (RFC 9639 §9.1): the parts that the search for frames needs.
struct FLACFrameHeader: Equatable {
    /// Bytes of the longest header.
    static let maximumBytes = 16

    /// Number of the frame's first sample in the stream, as numbered by the encoder.
    let firstSample: Int64
    /// Frames of audio in it.
    let blockFrames: Int
    /// True if the header counts blocks, all but the last of the same length; false if it counts samples.
    let numbersBlocks: Bool
    /// Frames a second.
    let sampleRate: Int
    let channels: Int
    /// Significant bits of a sample.
    let bitsPerSample: Int

    /// Reads the header at the beginning of `bytes`; nil if there is none, or it does not belong to a stream with this
    /// `info`. `info`: nil if nothing is known of the stream; then the header must state its rate and its bits.
    init?(_ bytes: UnsafeRawBufferPointer, in info: FLACStreamInfo?) {
        guard bytes.count >= 6, bytes[0] == 0xFF, bytes[1] & 0xFE == 0xF8, bytes[3] & 1 == 0 else { return nil }
        let blockCode = bytes[2] >> 4
        let rateCode = bytes[2] & 15
        let channelCode = bytes[3] >> 4
        guard blockCode != 0, rateCode != 15, channelCode < 11 else { return nil }
        guard let (number, numberBytes) = Self.codedNumber(UnsafeRawBufferPointer(rebasing: bytes[4...])) else {
            return nil
        }
        var index = 4 + numberBytes
        let extra = (blockCode == 6 ? 1 : blockCode == 7 ? 2 : 0) + (rateCode == 12 ? 1 : rateCode > 12 ? 2 : 0)
        guard bytes.count > index + extra else { return nil }
        func next(_ count: Int) -> Int {
            defer { index += count }
            return (index..<index + count).reduce(0) { $0 << 8 | Int(bytes[$1]) }
        }
        switch blockCode {
        case 1: blockFrames = 192
        case 2...5: blockFrames = 576 << Int(blockCode - 2)
        case 6: blockFrames = next(1) + 1
        case 7: blockFrames = next(2) + 1
        default: blockFrames = 256 << Int(blockCode - 8)
        }
        switch rateCode {
        case 0: sampleRate = info?.sampleRate ?? 0
        case 12: sampleRate = next(1) * 1000
        case 13: sampleRate = next(2)
        case 14: sampleRate = next(2) * 10
        default: sampleRate = Self.sampleRates[Int(rateCode)]
        }
        channels = channelCode < 8 ? Int(channelCode) + 1 : 2
        let bitsCode = Int(bytes[3] >> 1 & 7)
        bitsPerSample = bitsCode == 0 ? info?.bitsPerSample ?? 0 : Self.sampleBits[bitsCode]
        guard sampleRate == info?.sampleRate ?? sampleRate, channels == info?.channels ?? channels,
            bitsPerSample == info?.bitsPerSample ?? bitsPerSample, sampleRate > 0, bitsPerSample > 0,
            Self.checksum(bytes[..<index]) == bytes[index]
        else { return nil }
        // Old encoders with blocks of different lengths counted samples and did not mark that in the header.
        numbersBlocks = bytes[1] & 1 == 0 && info?.minimumBlockFrames == info?.maximumBlockFrames
        if !numbersBlocks {
            firstSample = number
        } else {
            guard number < 1 << 31 else { return nil }
            firstSample = number * Int64(info?.minimumBlockFrames ?? blockFrames)
        }
    }

    private static let sampleRates = [
        0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000,
    ]
    private static let sampleBits = [0, 8, 12, -1, 16, 20, 24, 32]

    /// The number in the header's variable-length code (UTF-8's, to 36 bits), and the bytes that it took.
    private static func codedNumber(_ bytes: UnsafeRawBufferPointer) -> (Int64, Int)? {
        let first = bytes[0]
        if first < 0x80 { return (Int64(first), 1) }
        let count = (~first).leadingZeroBitCount
        guard (2...7).contains(count), bytes.count >= count else { return nil }
        var number = count == 7 ? 0 : Int64(first & (0x7F >> UInt8(count)))
        for byte in bytes[1..<count] {
            guard byte & 0xC0 == 0x80 else { return nil }
            number = number << 6 | Int64(byte & 0x3F)
        }
        return (number, count)
    }

    /// CRC-8 with the polynomial x⁸ + x² + x + 1 (RFC 9639 §9.1.8).
    private static func checksum(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt8 {
        var sum: UInt8 = 0
        for byte in bytes {
            sum ^= byte
            for _ in 0..<8 { sum = sum << 1 ^ (sum & 0x80 != 0 ? 0x07 : 0) }
        }
        return sum
    }
}

/// Options of a FLAC file written by hand.
package struct FLACOptions: Sendable {
    /// Frames of the blocks, over and over; more than one length makes a stream of variable blocks.
    package var blockFrames = [4096]
    /// True if STREAMINFO has the length.
    package var statesLength = true
    /// Number of the first block (of its first sample, where blocks vary): a stream that was recorded from its middle.
    package var firstNumber = 0
    /// True if each block has the rate and depth, as those of an encoder do, and not only STREAMINFO: the usual ones.
    package var isStreamable = false
    /// Further metadata blocks: type and content.
    package var blocks: [(type: UInt8, content: [UInt8])] = []

    /// Blocks of 4096 frames, no further metadata.
    package init() {}
}

extension AudioMaterial {
    /// A FLAC file (RFC 9639) of verbatim subframes, any depth from 4 to 32 bits.
    package func flac(_ options: FLACOptions = FLACOptions()) -> [UInt8] {
        let blocks = [(type: UInt8(0), content: streamInfo(options))] + options.blocks
        var file = ByteBuilder()
        file.text("fLaC")
        for (index, block) in blocks.enumerated() {
            file.bytes.append(block.type | (index == blocks.count - 1 ? 0x80 : 0))
            file.big(block.content.count, 3)
            file.bytes += block.content
        }
        return file.bytes + flacFrames(options).flatMap { $0 }
    }

    /// The frames of such a file.
    package func flacFrames(_ options: FLACOptions = FLACOptions()) -> [[UInt8]] {
        var result: [[UInt8]] = []
        var frame = 0
        while frame < frames {
            let length = min(options.blockFrames[result.count % options.blockFrames.count], frames - frame)
            let isVariable = options.blockFrames.count > 1
            result.append(
                flacFrame(
                    from: frame, length: length, number: options.firstNumber + (isVariable ? frame : result.count),
                    isVariable: isVariable, isStreamable: options.isStreamable))
            frame += length
        }
        return result
    }

    private func streamInfo(_ options: FLACOptions) -> [UInt8] {
        var info = ByteBuilder()
        info.big(options.blockFrames.min()!, 2)
        info.big(options.blockFrames.max()!, 2)
        info.big(0, 6)
        let length = options.statesLength ? UInt64(frames) : 0
        info.big(UInt64(sampleRate) << 44 | UInt64(channels - 1) << 41 | UInt64(bits - 1) << 36 | length, 8)
        info.big(0, 16)
        return info.bytes
    }

    /// Codes of rates and depths in the header of a block.
    private static let rateCodes: [Int: UInt8] = [
        192_000: 3, 8000: 4, 16_000: 5, 22_050: 6, 24_000: 7, 32_000: 8, 44_100: 9, 48_000: 10, 96_000: 11,
    ]
    private static let depthCodes: [Int: UInt8] = [8: 1, 12: 2, 16: 4, 20: 5, 24: 6, 32: 7]

    private func flacFrame(
        from first: Int, length: Int, number: Int, isVariable: Bool, isStreamable: Bool
    ) -> [UInt8] {
        var frame = ByteBuilder()
        let rate = isStreamable ? Self.rateCodes[sampleRate]! : 0
        let depth = isStreamable ? Self.depthCodes[bits]! : 0
        frame.bytes = [0xFF, isVariable ? 0xF9 : 0xF8, 0x70 | rate, UInt8(channels - 1) << 4 | depth << 1]
        frame.bytes += Self.codedNumber(number)
        frame.big(length - 1, 2)
        frame.bytes.append(UInt8(Self.crc8(frame.bytes)))
        var pending: UInt64 = 0
        var pendingBits = 0
        func put(_ value: UInt64, _ count: Int) {
            pending = pending << UInt64(count) | value & (1 << UInt64(count) - 1)
            pendingBits += count
            while pendingBits >= 8 {
                pendingBits -= 8
                frame.bytes.append(UInt8(truncatingIfNeeded: pending >> UInt64(pendingBits)))
            }
        }
        for channel in 0..<channels {
            put(0b0000_0010, 8)
            for index in first..<first + length {
                put(UInt64(bitPattern: Int64(samples[index * channels + channel])), bits)
            }
        }
        if pendingBits > 0 { put(0, 8 - pendingBits) }
        frame.big(Self.crc16(frame.bytes), 2)
        return frame.bytes
    }

    private static func codedNumber(_ number: Int) -> [UInt8] {
        if number < 0x80 { return [UInt8(number)] }
        var count = 2
        while number >> (5 * count + 1) != 0 { count += 1 }
        let tail = (0..<count - 1).reversed().map { UInt8(truncatingIfNeeded: number >> (6 * $0)) & 0x3F | 0x80 }
        return [UInt8(truncatingIfNeeded: 0xFF00 >> count) | UInt8(truncatingIfNeeded: number >> (6 * (count - 1)))]
            + tail
    }

    private static let crc8Table = table(bits: 8, polynomial: 0x07)
    private static let crc16Table = table(bits: 16, polynomial: 0x8005)

    private static func table(bits: Int, polynomial: UInt32) -> [UInt32] {
        let top = UInt32(1) << (bits - 1)
        return (0..<256 as Range<UInt32>).map { byte in
            (0..<8).reduce(byte << (bits - 8)) { sum, _ in sum & top != 0 ? sum << 1 ^ polynomial : sum << 1 }
        }
    }

    private static func crc8(_ bytes: [UInt8]) -> UInt32 {
        bytes.reduce(0) { sum, byte in (sum << 8 ^ crc8Table[Int(sum ^ UInt32(byte))]) & 0xFF }
    }

    private static func crc16(_ bytes: [UInt8]) -> UInt32 {
        bytes.reduce(0) { sum, byte in (sum << 8 ^ crc16Table[Int(sum >> 8 ^ UInt32(byte))]) & 0xFFFF }
    }

    /// A VORBIS_COMMENT block of these comments, each `NAME=value`.
    package static func vorbisComments(_ comments: [[UInt8]], vendor: String = "by hand") -> (
        type: UInt8, content: [UInt8]
    ) {
        var block = ByteBuilder()
        block.little(vendor.utf8.count, 4)
        block.text(vendor)
        block.little(comments.count, 4)
        for comment in comments {
            block.little(comment.count, 4)
            block.bytes += comment
        }
        return (4, block.bytes)
    }
}

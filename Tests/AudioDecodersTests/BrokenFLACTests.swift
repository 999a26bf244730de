import AudioCore
import AudioDecoders
import TestSupport
import Testing

/// Faulty FLAC files.
@Suite struct BrokenFLACTests {
    let folder = TemporaryFolder()
    /// Ten blocks of 1000 frames, of noise without a zero.
    let material: AudioMaterial
    let options: FLACOptions
    let header: [UInt8]
    let blocks: [[UInt8]]

    init() {
        var material = AudioMaterial.noise(frames: 10_000)
        material.samples = material.samples.map { $0 == 0 ? 1 : $0 }
        self.material = material
        var options = FLACOptions()
        options.blockFrames = [1000]
        self.options = options
        blocks = material.flacFrames(options)
        header = Array(material.flac(options).prefix(42))
    }

    private func open(_ bytes: [UInt8]) throws -> any AudioDecoder {
        try DecoderRegistry.openDecoder(path: folder.write(bytes, "a.flac"))
    }

    /// The samples of the material, with silence in these blocks.
    private func expected(silentBlocks: Set<Int> = [], blocks count: Int = 10) -> [UInt8] {
        var copy = material
        for block in silentBlocks {
            for index in block * 2000..<(block + 1) * 2000 { copy.samples[index] = 0 }
        }
        copy.samples.removeLast((10 - count) * 2000)
        return expectedBytes(copy, .int16)
    }

    @Test("damage becomes silence of the same length", arguments: [[1], [4], [3, 4, 5], [0], [0, 1], [2, 8]])
    func damagedBlocks(damaged: [Int]) throws {
        for position in [2, 5, 9, 10, 100, 3000] {
            var parts = blocks
            for block in damaged { parts[block][position] ^= 0x55 }
            let bytes = header + parts.flatMap { $0 }
            let all = expected(silentBlocks: Set(damaged))
            try expectSame(readFrames(open(bytes)), all, "damaged at \(position)")
            let decoder = try open(bytes)
            for target in [0, 999, 1000, 3500, 4999, 5000, 7999, 9000] {
                try decoder.seek(toFrame: Int64(target))
                let part = all[(target * 4)...].prefix(8000)
                try expectSame(readFrames(decoder, frames: 2000), part, "seek to \(target), damaged at \(position)")
            }
        }
    }

    @Test("blocks that are missing altogether") func missingBlocks() throws {
        let bytes = header + (blocks[..<3] + blocks[6...]).flatMap { $0 }
        let decoder = try open(bytes)
        try expectSame(readFrames(decoder), expected(silentBlocks: [3, 4, 5]))
        try decoder.seek(toFrame: 4500)
        try expectSame(readFrames(decoder, frames: 3000), expected(silentBlocks: [4, 5])[18_000..<30_000])
    }

    @Test("zeros and garbage between blocks, a second file behind the first") func foreignBytes() throws {
        var random = SeededRandom(seed: 3)
        let garbage = (0..<30_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let zeros = [UInt8](repeating: 0, count: 100_000)
        let middle = blocks[..<5].flatMap { $0 } + garbage + blocks[5] + zeros + blocks[6...].flatMap { $0 }
        try checkConformance(open(header + middle), expected: expected())
        try checkConformance(open(header + garbage + middle), expected: expected())
        try expectSame(readFrames(open(header + middle + header + middle)), expected())
    }

    @Test("numbers that jump far ahead: silence, but no work for it") func farJump() throws {
        var far = options
        far.statesLength = false
        far.firstNumber = 1 << 28
        let bytes = material.flac(far).prefix(42) + blocks[0] + material.flacFrames(far)[0]
        let decoder = try open(Array(bytes))
        try expectSame(readFrames(decoder, frames: 1000), expected(blocks: 1))
        try expectSame(readFrames(decoder, frames: 5000), [UInt8](repeating: 0, count: 20_000))
        try decoder.seek(toFrame: 1000 << 28 - 10)
        try expectSame(readFrames(decoder), [UInt8](repeating: 0, count: 40) + expected(blocks: 1))
    }

    @Test("numbers that lead in a circle, a promise far too short") func circles() throws {
        var short = header
        short[24] = 0
        short[25] = 112
        var damaged = blocks
        damaged[0][500] ^= 1
        damaged[4][500] ^= 1
        // Old blocks again and again, with headers between that promise later ones.
        let liar = Array(blocks[9].prefix(100))
        let round = liar + blocks[1] + blocks[3] + liar + blocks[2] + blocks[5]
        for start in [header, short] {
            for bytes in [start + damaged.flatMap { $0 }, start + blocks[0] + round + round + round + blocks[0]] {
                let decoder = try open(bytes)
                let frames = try readFrames(decoder).count / 4
                #expect(frames <= 10_000)
                for target in [0, 100, 500, 2000, 9000] {
                    try decoder.seek(toFrame: Int64(target))
                    #expect(try readFrames(decoder).count / 4 <= 10_000)
                }
            }
        }
    }

    @Test("a repeated block is heard once") func repeatedBlock() throws {
        let bytes = header + (blocks[..<4] + blocks[3...]).flatMap { $0 }
        try expectSame(readFrames(open(bytes)), expected())
    }

    @Test("cut off anywhere") func truncated() throws {
        let whole = header + blocks.flatMap { $0 }
        for length in Array(1..<60) + Array(stride(from: 60, to: whole.count, by: 997)) {
            do {
                let decoder = try open(Array(whole[..<length]))
                let complete = (length - 42) / blocks[0].count
                try expectSame(readFrames(decoder), expected(blocks: complete), "cut at \(length)")
                // Behind the cut there is nothing; before it, all as it was.
                try decoder.seek(toFrame: 9500)
                #expect(try readFrames(decoder).isEmpty, "cut at \(length)")
                try decoder.seek(toFrame: 500)
                let part = expected(blocks: complete).dropFirst(2000)
                try expectSame(readFrames(decoder), part, "cut at \(length)")
            } catch let error as DecodingError {
                #expect(length < 42 + blocks[0].count, "cut at \(length): \(error)")
                #expect(error.kind == .broken || error.kind == .notRecognised && length < 4)
            }
        }
    }

    @Test("bits turned over anywhere: never a sample at a wrong place") func flippedBits() throws {
        let whole = header + blocks.flatMap { $0 }
        let good = expected()
        var random = SeededRandom(seed: 11)
        for _ in 0..<150 {
            var bytes = whole
            let position = Int(random.next() % UInt64(bytes.count - 42)) + 42
            bytes[position] ^= 1 << UInt8(random.next() % 8)
            let block = (position - 42) / blocks[0].count
            let decoder = try open(bytes)
            let read = try readFrames(decoder)
            // Damage in the last block ends it early; elsewhere it is silence.
            #expect(read.count == good.count || block == 9 && read.count == good.count - 4000, "byte \(position)")
            expectSame(read[..<(block * 4000)], good[..<(block * 4000)], "byte \(position)")
            let rest = min(read.count, (block + 1) * 4000)
            expectSame(read[rest...], good[rest..<read.count], "byte \(position)")
        }
    }

    @Test("a header of nonsense ends in an error or in audio, never otherwise") func flippedHeader() throws {
        let whole = header + blocks.flatMap { $0 }
        for position in 0..<42 {
            for bit in 0..<8 as Range<UInt8> {
                var bytes = whole
                bytes[position] ^= 1 << bit
                do {
                    let decoder = try open(bytes)
                    try decoder.seek(toFrame: 5000)
                    _ = try readFrames(decoder, frames: 20_000)
                } catch is DecodingError {}
            }
        }
    }

    @Test("audio of another format behind the first block") func formatChange() throws {
        let other = AudioMaterial.noise(frames: 1000, channels: 1)
        var otherBlock = other.flacFrames(options)[0]
        // Number 1 instead of 0 would need a new checksum: a stream of two blocks has it.
        otherBlock = AudioMaterial.noise(frames: 2000, channels: 1).flacFrames(options)[1]
        let decoder = try open(header + blocks[0] + otherBlock)
        try expectSame(readFrames(decoder, frames: 1000), expected(blocks: 1))
        #expect(throws: DecodingError(.broken, "its format changes in the middle")) { try readFrames(decoder) }
        try decoder.seek(toFrame: 0)
        try expectSame(readFrames(decoder, frames: 1000), expected(blocks: 1))
    }

    @Test("not one block that can be decoded") func nothingDecodable() throws {
        var parts = blocks
        for block in parts.indices { parts[block][500] ^= 1 }
        #expect(throws: DecodingError.self) { try readFrames(open(header + parts[0].prefix(2000))) }
        #expect(
            openingError(header + [UInt8](repeating: 0xFF, count: 50_000), folder)?.message
                == "it contains no audio")
        #expect(openingError(header, folder)?.message == "it ends before its first audio frame")
    }

    @Test(
        "outside the limits",
        arguments: [
            (0, "its header claims a sample rate of 0"),
            (655_350, "its sample rate is 655350 Hz; the sound server takes at most 384 kHz"),
        ])
    func limits(rate: Int, message: String) {
        let error = openingError(AudioMaterial.noise(frames: 100, sampleRate: rate).flac(), folder)
        #expect(error == DecodingError(.broken, message))
    }
}

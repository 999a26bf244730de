import AudioCore
import AudioDecoders
import NowPlaying
import TestSupport
import Testing

/// FLAC streams that change on the way or begin anywhere, as some of the test files of the IETF's group CELLAR do: as the
/// reference decoder plays them, and where it gives up, in words.
@Suite struct FLACStreamTests {
    private let folder = TemporaryFolder()

    /// Output of `flac -d`; nil: it fails.
    private func reference(_ bytes: [UInt8]) -> [UInt8]? {
        let words = ["--decode", "--silent", "--force", "--force-raw-format", "--endian=little", "--sign=signed", "-o"]
        let path = folder.write(bytes, "reference.flac")
        let status = AudioMaterial.run("flac", words + [folder.path("reference.raw"), path])
        return status == 0 ? folder.read("reference.raw") : nil
    }

    private static let first = AudioMaterial.noise(frames: 8192, sampleRate: 32_000)

    @Test(
        "where rate, depth or channels change, it ends in words",
        arguments: [
            AudioMaterial.noise(frames: 16_384, sampleRate: 24_000),
            .noise(frames: 16_384, sampleRate: 32_000, bits: 8),
            .noise(frames: 16_384, sampleRate: 32_000, bits: 24),
            .noise(frames: 16_384, sampleRate: 32_000, channels: 1),
            .noise(frames: 16_384, sampleRate: 32_000, channels: 6),
        ], [true, false])
    func changes(second: AudioMaterial, statesLength: Bool) throws {
        var options = FLACOptions()
        options.isStreamable = true
        options.statesLength = statesLength
        // The header covers both, the numbers continue.
        var whole = Self.first
        whole.samples += [Int32](repeating: 0, count: second.frames * whole.channels)
        let head = whole.flac(options).prefix(42)
        let blocks = Self.first.flacFrames(options)
        options.firstNumber = blocks.count
        let bytes = Array(head) + blocks.joined() + second.flacFrames(options).joined()
        #expect(reference(bytes) == nil)
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(bytes, "a.flac"))
        let expected = expectedBytes(Self.first, .int16)
        expectSame(try readFrames(decoder, frames: 8192), expected)
        #expect(throws: DecodingError(.broken, "its format changes in the middle")) {
            while try !readFrames(decoder, frames: 1000).isEmpty {}
        }
        // Earlier frames can be played again.
        try decoder.seek(toFrame: 5000)
        expectSame(try readFrames(decoder, frames: 3000), expected[20_000..<32_000])
        #expect(decoder.lengthInFrames ?? 0 <= 8192)
    }

    @Test(
        "blocks without a header, of a stream that runs for long, are played from the first on",
        arguments: [[4096], [4608], [1000, 4096, 576]], [0, 1 << 20])
    func withoutHeader(blockFrames: [Int], firstNumber: Int) throws {
        var options = FLACOptions()
        options.isStreamable = true
        options.blockFrames = blockFrames
        options.firstNumber = firstNumber
        for material in [AudioMaterial.noise(frames: 30_000), .noise(frames: 30_000, sampleRate: 96_000, bits: 24)] {
            let blocks = material.flacFrames(options)
            let bytes = Array(blocks.joined())
            let samples = try #require(reference(bytes))
            #expect(samples.count == material.samples.count * material.bits / 8)
            let format: SampleFormat = material.bits == 16 ? .int16 : .int24
            let expected = expectedBytes(material, format)
            let decoder = try DecoderRegistry.openDecoder(path: folder.write(bytes, "a.flac"))
            #expect(decoder.mediaFormat.codec == "FLAC")
            #expect(decoder.format.sampleRate == material.sampleRate)
            try checkConformance(decoder, expected: expected)
            // Begun within a block, where the reference gives up: the rest of it is there.
            let rest = Array(expected.dropFirst(options.blockFrames[0] * decoder.format.bytesPerFrame))
            for junk in [Array(blocks[0].dropFirst(7)), [0xFF, 0xFF, 0xF8] + blocks[0].dropFirst(300)] {
                let path = folder.write(junk + blocks.dropFirst().joined(), "b.flac")
                try checkConformance(DecoderRegistry.openDecoder(path: path), expected: rest)
            }
        }
    }

    @Test("with junk before its marker it is played with its length", arguments: [1, 5000, 60_000])
    func junk(count: Int) throws {
        var random = SeededRandom(seed: UInt64(count))
        let junk = [1] + (1..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) | 0x80 }
        let material = AudioMaterial.noise(frames: 20_000)
        let bytes = junk + material.flac()
        #expect(reference(bytes) == nil)
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(bytes, "a.flac"))
        try checkConformance(decoder, expected: expectedBytes(material, .int16))
        let tooMuch = [UInt8](repeating: 1, count: 70_000) + material.flac()
        #expect(openingError(tooMuch, folder)?.message.isEmpty == false)
    }

    @Test("headers of blocks that none follow are no stream, and no work") func headersAlone() {
        var options = FLACOptions()
        options.isStreamable = true
        let header = AudioMaterial.noise(frames: 4096).flacFrames(options)[0].prefix(8)
        let bytes = [UInt8](repeatElement(header, count: 100_000).joined())
        #expect(openingError(bytes, folder)?.message.isEmpty == false)
    }

    @Test("blocks shorter than allowed are played as by the reference", arguments: [1, 2, 15], [true, false])
    func shortBlocks(blockFrames: Int, isStated: Bool) throws {
        var options = FLACOptions()
        options.blockFrames = [blockFrames]
        let material = AudioMaterial.noise(frames: blockFrames * 100)
        var bytes = material.flac(options)
        if !isStated { bytes.replaceSubrange(8..<12, with: [16, 0, 16, 0]) }
        // From 1.5 on, the reference refuses blocks that STREAMINFO excludes.
        let theirs = reference(bytes)
        try #require(theirs != nil || !isStated)
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(bytes, "a.flac"))
        try checkConformance(decoder, expected: theirs ?? expectedBytes(material, .int16))
    }

    @Test("blocks longer than STREAMINFO can describe are refused with a message") func longBlocks() {
        var options = FLACOptions()
        options.blockFrames = [65_536]
        for isStreamable in [true, false] {
            options.isStreamable = isStreamable
            var bytes = AudioMaterial.noise(frames: 200_000, channels: 1).flac(options)
            bytes.replaceSubrange(8..<12, with: [16, 0, 16, 0])
            #expect(openingError(bytes, folder)?.message == "its blocks are longer than FLAC allows")
            if isStreamable { #expect(openingError(Array(bytes[42...]), folder)?.message.isEmpty == false) }
        }
    }
}

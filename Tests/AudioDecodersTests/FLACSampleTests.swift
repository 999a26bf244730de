import AudioCore
import AudioDecoders
import NowPlaying
import TestSupport
import Testing

/// FLAC comes out bit by bit as it went in.
@Suite struct FLACSampleTests {
    let folder = TemporaryFolder()

    @Test("every depth", arguments: 4...32) func everyDepth(bits: Int) throws {
        let material = AudioMaterial.noise(frames: 9000, channels: 2, bits: bits, seed: UInt64(bits))
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(material.flac(), "a"))
        let format: SampleFormat = bits <= 16 ? .int16 : bits <= 24 ? .int24 : .int32
        #expect(decoder.format == AudioFormat(sampleFormat: format, sampleRate: 44_100, channelCount: 2))
        #expect(
            decoder.mediaFormat == MediaFormat(codec: "FLAC", sampleRate: 44_100, channels: 2, bitsPerSample: bits))
        try checkConformance(decoder, expected: expectedBytes(material, format))
    }

    @Test("every number of channels", arguments: 1...8, [12, 16, 24]) func everyChannelCount(channels: Int, bits: Int)
        throws
    {
        let material = AudioMaterial.noise(frames: 5000, channels: channels, bits: bits)
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(material.flac(), "a"))
        #expect(decoder.format.channels == ChannelPosition.standardOrder(channels: channels))
        try checkConformance(decoder, expected: expectedBytes(material, .integer(bits: bits)))
    }

    @Test("any rate", arguments: [1, 7, 8000, 11_025, 44_100, 65_537, 192_000, 384_000])
    func anyRate(rate: Int) throws {
        let material = AudioMaterial.noise(frames: 300, sampleRate: rate, channels: 1)
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(material.flac(), "a"))
        #expect(decoder.format.sampleRate == rate)
        try checkConformance(decoder, expected: expectedBytes(material, .int16))
    }

    @Test("any length of blocks", arguments: [[16], [17], [192], [65_535], [1000, 17, 4096, 3], [1, 2, 3]])
    func anyBlocks(blockFrames: [Int]) throws {
        var options = FLACOptions()
        options.blockFrames = blockFrames.contains { $0 < 16 } ? blockFrames + [4608] : blockFrames
        if blockFrames.count > 1 { options.blockFrames = options.blockFrames.map { max($0, 16) } }
        let material = AudioMaterial.noise(frames: 66_000, channels: 1)
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(material.flac(options), "a"))
        try checkConformance(decoder, expected: expectedBytes(material, .int16))
    }

    @Test(
        "a length that is not in the header, numbers that do not begin at 0", arguments: [0, 1, 100_000],
        [[4096], [500, 600]])
    func openEnded(firstNumber: Int, blockFrames: [Int]) throws {
        var options = FLACOptions()
        options.statesLength = false
        options.firstNumber = firstNumber
        options.blockFrames = blockFrames
        let material = AudioMaterial.noise(frames: 50_000)
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(material.flac(options), "a"))
        #expect(decoder.lengthInFrames == 50_000)
        try checkConformance(decoder, expected: expectedBytes(material, .int16))
    }

    @Test("lengths about one block, and none", arguments: [0, 1, 15, 16, 4095, 4096, 4097, 8192])
    func shortOnes(frames: Int) throws {
        var options = FLACOptions()
        options.statesLength = frames > 0
        let material = AudioMaterial.noise(frames: frames)
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(material.flac(options), "a"))
        #expect(decoder.lengthInFrames == Int64(frames))
        try checkConformance(decoder, expected: expectedBytes(material, .int16))
    }

    @Test(
        "files of the reference encoder", arguments: [8, 16, 24],
        ["-0", "-8", "-5 --no-seektable", "-2 --blocksize=1152"])
    func referenceEncoder(bits: Int, options: String) throws {
        let material = AudioMaterial.waves(frames: 50_000, channels: bits == 24 ? 6 : 2, bits: bits)
        let wave = folder.write(material.wave(mask: bits == 24 ? 0x3F : nil), "a.wav")
        let words =
            options.split(separator: " ").map(String.init) + ["--silent", "--force", "-o", folder.path("a.flac"), wave]
        try #require(AudioMaterial.run("flac", words) == 0)
        let decoder = try DecoderRegistry.openDecoder(path: folder.path("a.flac"))
        try checkConformance(decoder, expected: expectedBytes(material, .integer(bits: bits)))
    }

    @Test("tags of other kinds before and behind everything") func foreignTags() throws {
        let material = AudioMaterial.noise(frames: 20_000)
        let before: [UInt8] = Array("ID3".utf8) + [4, 0, 0, 0, 0, 2, 10] + [UInt8](repeating: 0xFF, count: 266)
        let behind = Array("APETAGEX".utf8) + [UInt8](repeating: 0xFF, count: 9000) + Array("TAG".utf8)
        let file = before + before + material.flac() + behind + [UInt8](repeating: 0x20, count: 125)
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(file, "a.mp3"))
        try checkConformance(decoder, expected: expectedBytes(material, .int16))
    }
}

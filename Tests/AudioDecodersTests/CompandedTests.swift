import AudioCore
import AudioDecoders
import NowPlaying
import TestSupport
import Testing

/// The telephone codings and simple ADPCM.
@Suite struct CompandedTests {
    let folder = TemporaryFolder()

    /// The value of a code of µ-law (ITU-T G.711, scaled to 16 bits).
    private func muLaw(_ code: UInt8) -> Int16 {
        let bits = Int32(~code)
        let magnitude = ((bits & 0x0F) << 3 + 0x84) << (bits >> 4 & 7) - 0x84
        return Int16(code & 0x80 == 0 ? -magnitude : magnitude)
    }

    /// The value of a code of A-law.
    private func aLaw(_ code: UInt8) -> Int16 {
        let bits = Int32(code ^ 0x55)
        let segment = bits >> 4 & 7
        let low = (bits & 0x0F) << 4 + 8
        let magnitude = segment == 0 ? low : (low + 0x100) << (segment - 1)
        return Int16(bits & 0x80 != 0 ? magnitude : -magnitude)
    }

    @Test("µ-law and A-law", arguments: [(1, "µ-law"), (27, "A-law")]) func telephone(coding: Int, name: String) throws
    {
        let codes = (0..<6000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 5) }
        let material = AudioMaterial(sampleRate: 8000, channels: 2, bits: 8, samples: [])
        let file = material.au(coding: coding, codes: codes)
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(file, "a"))
        #expect(decoder.mediaFormat == MediaFormat(codec: name, sampleRate: 8000, channels: 2))
        #expect(decoder.format.sampleFormat == .int16)
        let expected = codes.map { coding == 1 ? muLaw($0) : aLaw($0) }
        try checkConformance(decoder, expected: expected.withUnsafeBytes { Array($0) })
    }

    @Test("ADPCM", arguments: [("ima-adpcm", "IMA ADPCM"), ("ms-adpcm", "MS ADPCM")], [1, 2])
    func adpcm(coding: (encoding: String, name: String), channels: Int) throws {
        let material = AudioMaterial.waves(frames: 20_000, sampleRate: 22_050, channels: channels)
        let source = folder.write(material.wave(), "in.wav")
        let path = folder.path("a.wav")
        try #require(AudioMaterial.run("sox", [source, "-e", coding.encoding, path]) == 0)
        // SoX decodes it by code of its own.
        let raw = [path, "-t", "raw", "-e", "signed", "-b", "16", "-L", folder.path("raw")]
        try #require(AudioMaterial.run("sox", raw) == 0)
        let reference = folder.read("raw")
        let decoder = try DecoderRegistry.openDecoder(path: path)
        #expect(decoder.mediaFormat.codec == coding.name)
        let all = try readFrames(decoder)
        #expect(all.count >= 20_000 * 2 * channels)
        expectSame(all, reference)
        try checkConformance(DecoderRegistry.openDecoder(path: path), expected: all)
    }
}

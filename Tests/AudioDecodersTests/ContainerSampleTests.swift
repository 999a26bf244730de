import AudioCore
import AudioDecoders
import Glibc
import NowPlaying
import TestSupport
import Testing

/// WAV and its kin come out bit by bit as they went in.
@Suite struct ContainerSampleTests {
    enum Container: CaseIterable, Sendable {
        case wave, rf64, w64, aiff, au, caf

        func file(_ material: AudioMaterial, _ layout: AudioMaterial.Layout) -> [UInt8] {
            switch self {
            case .wave: material.wave(layout)
            case .rf64: material.rf64(layout)
            case .w64: material.w64(layout)
            case .aiff: material.aiff(layout)
            case .au: material.au(layout)
            case .caf: material.caf(layout)
            }
        }
    }

    let folder = TemporaryFolder()

    private func check(_ bytes: [UInt8], _ material: AudioMaterial, _ layout: AudioMaterial.Layout) throws {
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(bytes, "a"))
        let format: SampleFormat = layout != .integer ? .float32 : .integer(bits: material.bits)
        #expect(
            decoder.format
                == AudioFormat(sampleFormat: format, sampleRate: material.sampleRate, channelCount: material.channels))
        let bits = layout == .integer ? material.bits : layout == .float ? 32 : 64
        #expect(
            decoder.mediaFormat
                == MediaFormat(
                    codec: layout == .integer ? "PCM" : "PCM (float)", sampleRate: material.sampleRate,
                    channels: material.channels, bitsPerSample: bits))
        #expect(decoder.lengthInFrames == Int64(material.frames))
        try checkConformance(decoder, expected: expectedBytes(material, format))
    }

    @Test("every depth", arguments: Container.allCases, [8, 16, 24, 32]) func everyDepth(
        container: Container, bits: Int
    ) throws {
        let material = AudioMaterial.noise(frames: 5000, bits: bits)
        try check(container.file(material, .integer), material, .integer)
    }

    @Test("floats", arguments: Container.allCases, [AudioMaterial.Layout.float, .double])
    func floats(container: Container, layout: AudioMaterial.Layout) throws {
        let material = AudioMaterial.noise(frames: 5000, bits: 24)
        try check(container.file(material, layout), material, layout)
    }

    @Test("every number of channels", arguments: Container.allCases, 1...8)
    func everyChannelCount(container: Container, channels: Int) throws {
        let material = AudioMaterial.noise(frames: 1000, channels: channels, bits: 24)
        try check(container.file(material, .integer), material, .integer)
    }

    @Test("any rate", arguments: Container.allCases, [1, 8000, 37_800, 48_000, 384_000])
    func anyRate(container: Container, rate: Int) throws {
        let material = AudioMaterial.noise(frames: 100, sampleRate: rate, channels: 1)
        try check(container.file(material, .integer), material, .integer)
    }

    @Test("no frames at all, and one", arguments: Container.allCases, [0, 1])
    func hardlyAny(container: Container, frames: Int) throws {
        let material = AudioMaterial.noise(frames: frames)
        try check(container.file(material, .integer), material, .integer)
    }

    @Test("an odd number of bytes", arguments: Container.allCases) func oddBytes(container: Container) throws {
        let material = AudioMaterial.noise(frames: 333, channels: 1, bits: 8)
        try check(container.file(material, .integer), material, .integer)
    }

    @Test("more than 4 GiB") func large() throws {
        // A hole of 5 GiB, then the material.
        let hole = 5 << 30
        let material = AudioMaterial.noise(frames: 1000)
        let header = AudioMaterial.noise(frames: 0).rf64(dataBytes: hole + 4000)
        let path = folder.write(header, "a")
        #expect(truncate(path, off_t(header.count + hole)) == 0)
        let descriptor = open(path, O_WRONLY | O_APPEND)
        let end = material.sampleBytes(.integer, bigEndian: false)
        #expect(end.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == end.count)
        close(descriptor)
        let decoder = try DecoderRegistry.openDecoder(path: path)
        #expect(decoder.lengthInFrames == Int64(hole / 4 + 1000))
        try decoder.seek(toFrame: Int64(hole / 4 - 500))
        try expectSame(readFrames(decoder), [UInt8](repeating: 0, count: 2000) + expectedBytes(material, .int16))
    }

    @Test("loudspeakers that the file names") func namedChannels() throws {
        let material = AudioMaterial.noise(frames: 100, channels: 6)
        // Side loudspeakers instead of rear ones.
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(material.wave(mask: 0x60F), "a"))
        #expect(
            decoder.format.channels == [.frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight])
        try checkConformance(decoder, expected: expectedBytes(material, .int16))
    }
}

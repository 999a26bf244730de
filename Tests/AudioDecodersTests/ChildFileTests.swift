import AudioCore
import AudioDecoders
import ChildDecoding
import Foundation
import NowPlaying
import TestSupport
import Testing

/// Files that nowplaying-decode decodes, compared with the output of `ffmpeg`.
@Suite(
    .enabled(if: DecodeProgram.path != nil, "nowplaying-decode is not built: its packages are missing"), .serialized)
struct ChildFileTests {
    private let folder = TemporaryFolder()
    private static let frames = 132_300

    /// Runs ffmpeg and returns its status.
    @discardableResult private func ffmpeg(_ arguments: [String]) -> Int32 {
        TestProcess(["ffmpeg", "-v", "error", "-y"] + arguments).wait()
    }

    /// A file coded by ffmpeg from material of our own.
    private func coded(_ name: String, _ options: [String], _ material: AudioMaterial) throws -> String {
        let source = folder.write(material.wave(), "source.wav")
        let path = folder.path + "/" + name
        try #require(ffmpeg(["-i", source] + options + [path]) == 0)
        return path
    }

    private func decoded(_ path: String, as format: String) throws -> [UInt8] {
        let raw = folder.path + "/decoded.raw"
        try #require(ffmpeg(["-i", path, "-f", format, raw]) == 0)
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: raw)))
    }

    @Test(
        "codings without loss are the samples that were coded, from any place on",
        arguments: [
            ("a.m4a", ["-c:a", "alac"], 16), ("b.m4a", ["-c:a", "alac"], 24), ("c.wv", ["-c:a", "wavpack"], 16),
            ("d.tta", ["-c:a", "tta"], 16),
        ] as [(String, [String], Int)])
    func lossless(_ name: String, _ options: [String], _ bits: Int) throws {
        let material = AudioMaterial.noise(frames: Self.frames, bits: bits)
        let path = try coded(name, options, material)
        let decoder = try DecoderRegistry.openDecoder(path: path)
        #expect(decoder.format.sampleRate == material.sampleRate)
        #expect(decoder.mediaFormat.bitsPerSample == bits)
        #expect(decoder.lengthInFrames == Int64(Self.frames))
        try checkConformance(decoder, expected: expectedBytes(material, decoder.format.sampleFormat))
    }

    /// Matroska counts milliseconds, so that a place in it is known to the nearest only.
    @Test("Matroska is the samples that were coded; a seek lands within a millisecond")
    func matroska() throws {
        let material = AudioMaterial.noise(frames: Self.frames)
        let path = try coded("e.mka", ["-c:a", "flac"], material)
        let decoder = try DecoderRegistry.openDecoder(path: path)
        let whole = try readFrames(decoder)
        expectSame(whole, expectedBytes(material, decoder.format.sampleFormat)[...])
        let size = decoder.format.bytesPerFrame
        for target in [5000, 44_100, 100_000] {
            try decoder.seek(toFrame: Int64(target))
            let part = try readFrames(decoder, frames: 500)
            let near = (target - 45)...(target + 45)
            #expect(near.contains { whole[($0 * size)..<(($0 + 500) * size)].elementsEqual(part) }, "\(target)")
        }
    }

    @Test("AAC in MP4 is what ffmpeg decodes, without what the encoder put before and behind")
    func gapless() throws {
        // Without noise substitution: the noise that a decoder puts in is another one after a seek.
        let material = AudioMaterial.waves(frames: Self.frames)
        let path = try coded("a.m4a", ["-c:a", "aac", "-aac_pns", "0", "-b:a", "192k"], material)
        let decoder = try DecoderRegistry.openDecoder(path: path)
        #expect(decoder.lengthInFrames == Int64(Self.frames))
        let read = try readFrames(decoder)
        #expect(read.count == Self.frames * decoder.format.bytesPerFrame)
        expectSame(read, try decoded(path, as: "f32le").prefix(read.count))
        for target in [0, 1, 100, 1023, 1024, 5000, 44_100, 100_000, Self.frames - 1] {
            try decoder.seek(toFrame: Int64(target))
            let part = try readFrames(decoder, frames: 2000)
            let size = decoder.format.bytesPerFrame
            let wanted = read[(target * size)..<min(read.count, (target + 2000) * size)]
            #expect(part.count == wanted.count)
            #expect(isNear(part, wanted), "after a seek to \(target)")
        }
    }

    @Test("DSD is the PCM that ffmpeg makes of it, at an eighth of its rate")
    func dsd() throws {
        let path = folder.write(Self.streamFile(blocks: 12), "a.dsf")
        let decoder = try DecoderRegistry.openDecoder(path: path)
        #expect(decoder.format.sampleRate == 352_800 && decoder.format.channels.count == 2)
        #expect(decoder.mediaFormat.codec.hasPrefix("DSD"), "\(decoder.mediaFormat)")
        #expect(decoder.lengthInFrames == Int64(12 * 4096))
        let read = try readFrames(decoder)
        #expect(read.count == 12 * 4096 * decoder.format.bytesPerFrame)
        expectSame(read, try decoded(path, as: "f32le"))
        // The filter that makes PCM of it has heard nothing before a place that is gone to.
        try decoder.seek(toFrame: 20_000)
        let size = decoder.format.bytesPerFrame
        expectSame(
            try readFrames(decoder, frames: 4000).dropFirst(256 * size), read[(20_256 * size)..<(24_000 * size)])
    }

    /// A DSD Stream File (Sony's format specification 1.01) of random bits at 2.8224 MHz, two channels, each in so many
    /// blocks of 4096 bytes.
    private static func streamFile(blocks: Int) -> [UInt8] {
        let bits = AudioMaterial.noise(frames: blocks * 4096).samples.map { UInt8(truncatingIfNeeded: $0 >> 4) }
        var file = ByteBuilder()
        file.text("DSD ")
        for number in [28, 28 + 52 + 12 + bits.count, 0] { file.little(number, 8) }
        file.text("fmt ")
        file.little(52, 8)
        // Version, raw DSD, stereo, channels, rate, bits of a sample.
        for number in [1, 0, 2, 2, 2_822_400, 1] { file.little(number, 4) }
        file.little(blocks * 4096 * 8, 8)
        for number in [4096, 0] { file.little(number, 4) }
        file.text("data")
        file.little(12 + bits.count, 8)
        return file.bytes + bits
    }

    @Test("tags, chapters and the format are read")
    func whatItSays() throws {
        let list = folder.write(
            Array(
                """
                ;FFMETADATA1
                title=Größe
                artist=Somebody
                album=All
                track=3/11
                [CHAPTER]
                TIMEBASE=1/1000
                START=0
                END=1000
                title=One
                [CHAPTER]
                TIMEBASE=1/1000
                START=1000
                END=3000
                title=Two
                """.utf8), "metadata.txt")
        let material = AudioMaterial.noise(frames: Self.frames)
        let path = try coded("a.m4a", ["-i", list, "-map_metadata", "1", "-c:a", "aac"], material)
        let decoder = try #require(try DecoderRegistry.openDecoder(path: path) as? ChildDecoder)
        #expect(decoder.metadata.title == "Größe")
        #expect(decoder.metadata.artist == "Somebody")
        #expect(decoder.metadata.albumTitle == "All")
        #expect(decoder.metadata.trackNumber == 3)
        #expect(decoder.metadata.trackCount == 11)
        #expect(decoder.mediaFormat.codec == "AAC")
        #expect((decoder.mediaFormat.bitRate ?? 0) > 50_000)
        #expect(decoder.metadata.chapters == [Chapter(start: 0, title: "One"), Chapter(start: 1, title: "Two")])
    }

    @Test("a file that is cut or made up is an error in words, and the child is gone with its decoder")
    func damaged() throws {
        let material = AudioMaterial.noise(frames: Self.frames)
        let whole = [UInt8](
            try Data(contentsOf: URL(fileURLWithPath: coded("a.m4a", ["-c:a", "alac"], material))))
        for count in [40, 200, 1000] {
            #expect(openingError(Array(whole.prefix(count)), folder, "cut.m4a")?.message.isEmpty == false)
        }
        let noise = AudioMaterial.noise(frames: 4000).samples.map { UInt8(truncatingIfNeeded: $0) }
        #expect(openingError(Array("wvpk".utf8) + noise, folder, "x.wv") != nil)
    }
}

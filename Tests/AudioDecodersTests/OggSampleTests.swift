import AudioCore
import AudioDecoders
import NowPlaying
import Synchronization
import TestSupport
import Testing

/// Vorbis, Opus and FLAC in Ogg come out as their reference programs play them.
@Suite struct OggSampleTests {
    enum Kind: CaseIterable, Sendable {
        case vorbis, opus

        var reference: [String] {
            switch self {
            case .vorbis: ["oggdec", "-Q", "-R", "-o", "OUT", "IN"]
            case .opus: ["opusdec", "--quiet", "--no-dither", "IN", "OUT"]
            }
        }
    }

    let folder = TemporaryFolder()

    private func encode(
        _ material: AudioMaterial, _ kind: Kind, _ options: String = "", _ name: String = "a.ogg"
    ) throws -> String {
        let wave = folder.write(material.wave(), "a.wav")
        let words = options.split(separator: " ").map(String.init)
        let status =
            kind == .vorbis
            ? AudioMaterial.run("oggenc", ["-Q"] + words + ["-o", folder.path(name), wave])
            : AudioMaterial.run("opusenc", ["--quiet"] + words + [wave, folder.path(name)])
        try #require(status == 0)
        return folder.path(name)
    }

    private func expected(_ kind: Kind, _ path: String) throws -> [Int16] {
        try referenceSamples(kind.reference, folder, path)
    }

    @Test("as long as the original", arguments: Kind.allCases, [1, 960, 20_000, 100_003])
    func gapless(kind: Kind, frames: Int) throws {
        let path = try encode(.waves(frames: frames, sampleRate: 48_000), kind)
        let decoder = try DecoderRegistry.openDecoder(path: path)
        #expect(decoder.lengthInFrames == Int64(frames))
        #expect(decoder.format == AudioFormat(sampleFormat: .float32, sampleRate: 48_000, channelCount: 2))
        try checkLossy(decoder, expected: expected(kind, path))
    }

    @Test("a failed read loses no frame before it, and the next one resumes", arguments: Kind.allCases)
    func failedReads(kind: Kind) throws {
        let noise = AudioMaterial.noise(frames: 400_000, sampleRate: 48_000, channels: 2)
        let path = try encode(noise, kind, kind == .vorbis ? "-q 8" : "--bitrate 256")
        let expected = try readFrames(DecoderRegistry.openDecoder(path: path))
        let fails = Failing()
        let decoder = try DecoderRegistry.openDecoder(path: path, shouldStop: { fails.isSet })
        var read: [UInt8] = []
        var failures = 0
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 8192 * 8, alignment: 16)
        defer { piece.deallocate() }
        while true {
            fails.set(true)
            do throws(DecodingError) {
                let count = try decoder.read(into: piece)
                if count == 0 { break }
                read += piece[..<(count * 8)]
            } catch {
                failures += 1
                fails.set(false)
                let count = try decoder.read(into: piece)
                if count == 0 { break }
                read += piece[..<(count * 8)]
            }
        }
        #expect(failures > 2)
        expectSame(read, expected)
    }

    /// A switch that fails the reads of a file.
    private final class Failing: Sendable {
        private let flag = Atomic(false)

        var isSet: Bool { flag.load(ordering: .relaxed) }

        func set(_ fails: Bool) { flag.store(fails, ordering: .relaxed) }
    }

    @Test("mono and more", arguments: Kind.allCases, [1, 4]) func channels(kind: Kind, channels: Int) throws {
        let path = try encode(.waves(frames: 40_000, sampleRate: 48_000, channels: channels), kind)
        let decoder = try DecoderRegistry.openDecoder(path: path)
        #expect(decoder.mediaFormat.channels == channels)
        try checkLossy(decoder, expected: expected(kind, path), seeks: 20)
    }

    @Test("any quality", arguments: Kind.allCases, [0, 1, 2]) func qualities(kind: Kind, quality: Int) throws {
        let options =
            kind == .vorbis
            ? ["-q -1 --resample 8000", "-q 10", "-b 96"][quality]
            : ["--bitrate 12 --framesize 60", "--bitrate 256 --framesize 2.5", "--bitrate 16"][quality]
        let path = try encode(.waves(frames: 200_000, sampleRate: 48_000), kind, options)
        try checkLossy(DecoderRegistry.openDecoder(path: path), expected: expected(kind, path))
    }

    /// Voices with pauses: tones that change every 200 ms, hissing between, a pause after each three.
    private static func speech(seconds: Int) -> AudioMaterial {
        var random = SeededRandom(seed: 21)
        var samples: [Int32] = []
        let count = 9600
        for syllable in 0..<seconds * 5 {
            let period = 200 + Int(random.next() % 300)
            for frame in 0..<count {
                let hiss = Int32(truncatingIfNeeded: Int64(bitPattern: random.next()) >> 52)
                let rise = Int32(min(frame, count - frame, 2400))
                let tone = Int32(frame % period < period / 4 ? 9000 : -3000) / 2400 * rise
                let sample = syllable % 4 == 3 ? 0 : frame > 8000 ? hiss : tone + hiss / 16
                samples += [sample, sample]
            }
        }
        return AudioMaterial(sampleRate: 48_000, channels: 2, bits: 16, samples: samples)
    }

    @Test(
        "what Opus codes as speech, after seeks, too",
        arguments: ["--speech --bitrate 12", "--speech --bitrate 24", "--bitrate 24 --framesize 60"])
    func speech(options: String) throws {
        let path = try encode(Self.speech(seconds: 12), .opus, options)
        try checkLossy(DecoderRegistry.openDecoder(path: path), expected: expected(.opus, path), seeks: 40)
    }

    @Test("the gain of an Opus header is applied") func headerGain() throws {
        let path = try encode(.waves(frames: 30_000, sampleRate: 48_000), .opus)
        var bytes = folder.read("a.ogg")
        let head = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("OpusHead".utf8)) })
        // −6 dB, in 1/256 dB.
        bytes[head + 16] = 0x00
        bytes[head + 17] = 0xFA
        AudioMaterial.setOggChecksum(&bytes)
        let whole = try rounded16(readFrames(DecoderRegistry.openDecoder(path: path)))
        let quieter = try rounded16(readFrames(DecoderRegistry.openDecoder(path: folder.write(bytes, "b.ogg"))))
        try #require(whole.count == quieter.count)
        let peak = whole.map { abs(Int($0)) }.max()!
        let quietPeak = quieter.map { abs(Int($0)) }.max()!
        #expect(abs(Double(quietPeak) / Double(peak) - 0.5012) < 0.001)
    }

    @Test("links of a chain follow one another, each with its tags", arguments: Kind.allCases) func chain(kind: Kind)
        throws
    {
        var bytes: [UInt8] = []
        for (index, frames) in [30_000, 12_345, 60_000].enumerated() {
            let option =
                kind == .vorbis ? "--serial \(index + 1) -t Link\(index)" : "--serial \(index + 1) --title Link\(index)"
            let channels = index == 1 ? 1 : 2
            _ = try encode(.waves(frames: frames, sampleRate: 48_000, channels: channels), kind, option)
            bytes += folder.read("a.ogg")
        }
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(bytes, "chain.ogg"))
        #expect(decoder.lengthInFrames == 102_345)
        #expect(decoder.format.channels.count == 2)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 8 * 3000, alignment: 16)
        defer { buffer.deallocate() }
        var position = 0
        while case let count = try decoder.read(into: buffer), count > 0 {
            let link = position < 30_000 ? 0 : position < 42_345 ? 1 : 2
            position += count
            #expect(position <= [30_000, 42_345, 102_345][link])
            // The read that ends at the change reports it.
            let isLinkEnd = position == 30_000 || position == 42_345
            #expect(decoder.takeMetadataChange()?.title == (isLinkEnd ? "Link\(link + 1)" : nil))
        }
        #expect(position == 102_345)
        try decoder.seek(toFrame: 35_000)
        #expect(decoder.takeMetadataChange() == nil)
        #expect(decoder.mediaFormat.channels == 1)
        #expect(decoder.metadata.title == "Link1")
        try decoder.seek(toFrame: 0)
        #expect(decoder.metadata.title == "Link0")
        var random = SeededRandom(seed: 5)
        try decoder.seek(toFrame: 0)
        let all = try rounded16(readFrames(decoder))
        for _ in 0..<50 {
            let target = Int(random.next() % 102_345)
            try decoder.seek(toFrame: Int64(target))
            let read = try rounded16(readFrames(decoder, frames: 2000))
            expectClose(read, all[target * 2..<min(all.count, (target + 2000) * 2)], "after a seek to \(target)")
        }
    }

    @Test("FLAC in Ogg, bit by bit", arguments: [8, 16, 24], [1, 50_000])
    func flac(bits: Int, frames: Int) throws {
        let material = AudioMaterial.waves(frames: frames, bits: bits)
        let wave = folder.write(material.wave(), "a.wav")
        let words = ["--silent", "--force", "--ogg", "-T", "TITLE=x", "-o", folder.path("a.oga"), wave]
        try #require(AudioMaterial.run("flac", words) == 0)
        let decoder = try DecoderRegistry.openDecoder(path: folder.path("a.oga"))
        #expect(decoder.metadata.title == "x")
        try checkConformance(decoder, expected: expectedBytes(material, .integer(bits: bits)), seeks: 100)
    }

    @Test("comments of 50 MB, and a hundred thousand of them", arguments: Kind.allCases, [true, false])
    func largeComments(kind: Kind, isOne: Bool) throws {
        let path = try encode(.waves(frames: 30_000, sampleRate: 48_000), kind)
        let plain = folder.read("a.ogg")
        let comments: [[UInt8]] =
            isOne
            ? [Array("COVERART=".utf8) + [UInt8](repeating: 0x41, count: 50_000_000), Array("TITLE=x".utf8)]
            : (0..<100_000).map { Array("ARTIST=\($0)".utf8) }
        let bytes = try #require(AudioMaterial.oggWithComments(plain, comments))
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(bytes, "b.ogg"))
        if isOne { #expect(decoder.metadata.title == "x") } else { #expect(decoder.metadata.artists.count == 32) }
        try checkLossy(decoder, expected: expected(kind, path), seeks: 5)
    }

    @Test("cut off and damaged anywhere: no crash, no hang, nothing that was not there", arguments: Kind.allCases)
    func broken(kind: Kind) throws {
        _ = try encode(.waves(frames: 40_000, sampleRate: 48_000), kind)
        let good = folder.read("a.ogg")
        var random = SeededRandom(seed: 9)
        for round in 0..<60 {
            var bytes = good
            if round % 2 == 0 {
                bytes.removeLast(Int(random.next() % UInt64(bytes.count)))
            } else {
                for _ in 0..<8 {
                    bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
                }
            }
            guard let decoder = try? DecoderRegistry.openDecoder(path: folder.write(bytes, "b.ogg")) else { continue }
            if let length = decoder.lengthInFrames, length > 100_000 { continue }
            let read = (try? readFrames(decoder).count / decoder.format.bytesPerFrame) ?? 0
            #expect(read <= 42_000)
            for _ in 0..<5 {
                try? decoder.seek(toFrame: Int64(random.next() % 40_000))
                _ = try? readFrames(decoder, frames: 1000)
            }
        }
    }

    @Test("a page lost in the middle leaves what follows in its place", arguments: Kind.allCases)
    func lostPage(kind: Kind) throws {
        let path = try encode(.noise(frames: 300_000, sampleRate: 48_000), kind)
        let good = folder.read("a.ogg")
        let pages = AudioMaterial.oggPages(good)
        try #require(pages.count > 8)
        let lost = pages[pages.count / 2]
        let bytes = Array(good[..<lost.lowerBound]) + Array(good[lost.upperBound...])
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(bytes, "b.ogg"))
        #expect(decoder.lengthInFrames == 300_000)
        let read = try rounded16(readFrames(decoder))
        let whole = try rounded16(readFrames(DecoderRegistry.openDecoder(path: path)))
        try #require(read.count == whole.count)
        expectClose(read.suffix(100_000), whole.suffix(100_000))
    }
}

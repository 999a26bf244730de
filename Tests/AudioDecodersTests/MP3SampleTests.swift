import AudioCore
import AudioDecoders
import NowPlaying
import TestSupport
import Testing

/// MP3 comes out as mpg123 plays it, and as long as it was before it was encoded.
@Suite struct MP3SampleTests {
    static let reference = ["mpg123", "-q", "-e", "s16", "-O", "OUT", "IN"]
    let folder = TemporaryFolder()

    private func encode(
        _ material: AudioMaterial, _ options: String, with program: String = "lame", _ name: String = "a.mp3"
    ) throws -> String {
        let wave = folder.write(material.wave(), "a.wav")
        let words = options.split(separator: " ").map(String.init)
        let all =
            program == "lame"
            ? ["--quiet"] + words + [wave, folder.path(name)]
            : ["-loglevel", "error", "-y", "-i", wave] + words + [folder.path(name)]
        try #require(AudioMaterial.run(program, all) == 0)
        return folder.path(name)
    }

    @Test(
        "gapless: as long as the original",
        arguments: ["-b 128", "-V 2", "--abr 150", "-b 320 -m s", "-V 9 --resample 44.1", "-b 64 --resample 44.1"],
        [44_100, 22_051, 1, 1152, 50_000])
    func gapless(options: String, frames: Int) throws {
        let path = try encode(.waves(frames: frames), options)
        let decoder = try DecoderRegistry.openDecoder(path: path)
        #expect(decoder.lengthInFrames == Int64(frames))
        #expect(
            decoder.format
                == AudioFormat(sampleFormat: .float32, sampleRate: decoder.format.sampleRate, channelCount: 2))
        let expected = try referenceSamples(Self.reference, folder, path)
        #expect(expected.count == frames * 2)
        try checkLossy(decoder, expected: expected, seeks: frames == 50_000 ? 100 : 30)
    }

    @Test(
        "every rate, stereo and mono",
        arguments: [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000], [1, 2])
    func rates(rate: Int, channels: Int) throws {
        let path = try encode(.waves(frames: 30_000, sampleRate: rate, channels: channels), "-V 4")
        let decoder = try DecoderRegistry.openDecoder(path: path)
        #expect(decoder.mediaFormat == MediaFormat(codec: "MP3", sampleRate: rate, channels: channels))
        try checkLossy(decoder, expected: referenceSamples(Self.reference, folder, path), seeks: 20)
    }

    @Test("without a Xing header: full length, known at once or after counting", arguments: ["-q:a 2", "-b:a 96k"])
    func noXing(options: String) throws {
        let path = try encode(.waves(frames: 400_000), options + " -c:a libmp3lame -write_xing 0", with: "ffmpeg")
        let decoder = try DecoderRegistry.openDecoder(path: path)
        try decoder.measureLength { false }
        #expect(!decoder.lengthIsEstimated)
        let expected = try referenceSamples(Self.reference, folder, path)
        #expect(decoder.lengthInFrames == Int64(expected.count / 2))
        try checkLossy(decoder, expected: expected)
    }

    @Test("a Xing header that lies about the number of frames", arguments: [0.25, 0.5, 0.9, 1.1, 2, 100])
    func wrongXing(factor: Double) throws {
        var bytes = try folder.read(
            encode(.waves(frames: 200_000), "-V 3", "b.mp3").split(separator: "/").last.map(String.init)!)
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("Xing".utf8)) }) + 8
        let frames = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
        for index in 0..<4 {
            bytes[place + index] = UInt8(truncatingIfNeeded: Int(Double(frames) * factor) >> (24 - 8 * index))
        }
        let path = folder.write(bytes, "a.mp3")
        let decoder = try DecoderRegistry.openDecoder(path: path)
        try decoder.measureLength { false }
        let expected = try referenceSamples(Self.reference, folder, path)
        #expect(decoder.lengthInFrames == Int64(expected.count / 2))
        expectClose(try rounded16(readFrames(decoder)), expected)
    }

    @Test(
        "a Xing header with zero frames: delay and padding are cut as with the number of frames",
        arguments: ["-b 128", "-V 4"])
    func zeroXing(options: String) throws {
        let good = try encode(.waves(frames: 220_500), options)
        let expected = try referenceSamples(Self.reference, folder, good)
        var bytes = folder.read("a.mp3")
        let name = Array((options == "-V 4" ? "Xing" : "Info").utf8)
        let place = try #require(bytes.firstRange(of: name)).upperBound + 4
        bytes.replaceSubrange(place..<place + 4, with: [0, 0, 0, 0])
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(bytes, "zero.mp3"))
        #expect(decoder.lengthInFrames == 220_500 && !decoder.lengthIsEstimated)
        // FFmpeg finds the delay alone: its count of frames is larger by the padding.
        let ffmpeg = try referenceSamples(
            ["ffmpeg", "-y", "-v", "error", "-i", "IN", "-f", "s16le", "OUT"], folder, folder.path("zero.mp3"))
        #expect((220_500..<220_500 + 1152).contains(ffmpeg.count / 2) && expected.count / 2 == 220_500)
        try checkLossy(decoder, expected: expected, seeks: 20)
    }

    @Test("layer II and free format", arguments: ["-c:a mp2 -b:a 192k", "-c:a mp2 -ar 24000 -b:a 64k -ac 1", "free"])
    func otherKinds(options: String) throws {
        let path =
            options == "free"
            ? try encode(.waves(frames: 60_000), "--freeformat -b 200")
            : try encode(.waves(frames: 60_000), options, with: "ffmpeg", "a.mp2")
        let decoder = try DecoderRegistry.openDecoder(path: path)
        #expect(decoder.mediaFormat.codec == (options == "free" ? "MP3" : "MP2"))
        try checkLossy(decoder, expected: referenceSamples(Self.reference, folder, path), seeks: 20)
    }

    @Test("junk before, behind and in the middle") func junk() throws {
        let good = folder.read(String(try encode(.waves(frames: 90_000), "-b 128").split(separator: "/").last!))
        let expected = try referenceSamples(Self.reference, folder, folder.path("a.mp3"))
        var random = SeededRandom(seed: 1)
        let noise = (0..<5000).map { _ in UInt8(truncatingIfNeeded: random.next()) & 0x7F }
        let tag: [UInt8] = Array("ID3".utf8) + [3, 0, 0, 0, 0, 1, 0] + [UInt8](repeating: 0, count: 128)
        let ape = Array("APETAGEX".utf8) + [0xD0, 7, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 12)
        let old = Array("TAG".utf8) + [UInt8](repeating: 0x20, count: 125)
        for file in [noise + good, tag + tag + good, good + ape + old, good + old, [0] + good, good + noise] {
            let decoder = try DecoderRegistry.openDecoder(path: folder.write(file, "b.mp3"))
            #expect(decoder.lengthInFrames == 90_000)
            expectClose(try rounded16(readFrames(decoder)), expected)
        }
        // In the middle: as much as there is, without an end to the search.
        for hole in [[UInt8](repeating: 0, count: 100_000), noise, tag] {
            let middle = good.count / 2
            let file = Array(good[..<middle]) + hole + Array(good[middle...])
            let decoder = try DecoderRegistry.openDecoder(path: folder.write(file, "b.mp3"))
            let read = try readFrames(decoder)
            #expect(read.count / 8 > 85_000 && read.count / 8 <= 92_000)
            try decoder.measureLength { false }
            // The library cuts less at the end once it has lost the count.
            #expect(abs(decoder.lengthInFrames! - Int64(read.count / 8)) < 1152)
        }
    }

    @Test("cut off anywhere: what there is, and no longer promised") func truncated() throws {
        for options in ["-b 96", "-V 5"] {
            let good = folder.read(String(try encode(.waves(frames: 40_000), options).split(separator: "/").last!))
            for length in Array(1..<64) + Array(stride(from: 64, to: good.count, by: 397)) {
                let path = folder.write(Array(good[..<length]), "b.mp3")
                guard let decoder = try? DecoderRegistry.openDecoder(path: path) else {
                    #expect(length < 2000)
                    continue
                }
                let read = try readFrames(decoder)
                try decoder.measureLength { false }
                #expect(decoder.lengthInFrames == Int64(read.count / 8), "cut at \(length)")
            }
        }
    }

    @Test("damage anywhere: no crash, no hang, no more than there was", arguments: 0..<40 as Range<UInt64>)
    func damaged(seed: UInt64) throws {
        var bytes = folder.read(String(try encode(.waves(frames: 30_000), "-V 5").split(separator: "/").last!))
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 { bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next()) }
        guard let decoder = try? DecoderRegistry.openDecoder(path: folder.write(bytes, "b.mp3")) else { return }
        let frames = (try? readFrames(decoder).count / decoder.format.bytesPerFrame) ?? 0
        #expect(frames <= 60_000)
        for _ in 0..<10 {
            try? decoder.seek(toFrame: Int64(random.next() % 40_000))
            _ = try? readFrames(decoder, frames: 1000)
        }
    }
}

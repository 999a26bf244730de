import AudioCore
import AudioDecoders
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// Chains of Ogg links that the libraries do not play as one.
@Suite struct OggChainTests {
    let folder = TemporaryFolder()

    private func flac(_ material: AudioMaterial, serial: Int, title: String) throws -> [UInt8] {
        let wave = folder.write(material.wave(), "a.wav")
        let words = [
            "--silent", "--force", "--ogg", "--serial-number=\(serial)", "-T", "TITLE=\(title)", "-o",
            folder.path("a.oga"), wave,
        ]
        try #require(AudioMaterial.run("flac", words) == 0)
        return folder.read("a.oga")
    }

    private func lossy(_ program: String, _ material: AudioMaterial, serial: Int, title: String) throws -> [UInt8] {
        let wave = folder.write(material.wave(), "a.wav")
        let words =
            program == "oggenc"
            ? ["-Q", "--serial", "\(serial)", "-t", title, "-o", folder.path("a.ogg"), wave]
            : ["--quiet", "--serial", "\(serial)", "--title", title, wave, folder.path("a.ogg")]
        try #require(AudioMaterial.run(program, words) == 0)
        return folder.read("a.ogg")
    }

    @Test("links of FLAC in one format are played bit by bit, without a frame between") func flacLinks() throws {
        let parts = [30_000, 1, 250_000].enumerated().map { index, frames in
            AudioMaterial.noise(frames: frames, seed: UInt64(index))
        }
        var bytes: [UInt8] = []
        for (index, part) in parts.enumerated() { bytes += try flac(part, serial: index + 1, title: "Link\(index)") }
        let path = folder.write(bytes, "chain.oga")
        let decoder = try DecoderRegistry.openDecoder(path: path)
        #expect(decoder.nextFormatChange == nil)
        var position = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4 * 3000, alignment: 16)
        defer { buffer.deallocate() }
        while case let count = try decoder.read(into: buffer), count > 0 {
            position += count
            let change = decoder.takeMetadataChange()?.title
            #expect(change == [30_000: "Link1", 30_001: "Link2"][position])
        }
        #expect(position == 280_001)
        try checkConformance(
            DecoderRegistry.openDecoder(path: path), expected: parts.flatMap { expectedBytes($0, .int16) })
    }

    @Test("where the format changes, so does that of the decoder, and nothing is lost") func changingFormats() throws {
        let materials = [
            AudioMaterial.noise(frames: 44_100), .noise(frames: 24_001, sampleRate: 48_000, seed: 2),
            .noise(frames: 9_000, sampleRate: 48_000, bits: 24, seed: 3), .noise(frames: 7_000, seed: 4),
        ]
        var bytes: [UInt8] = []
        for (index, material) in materials.enumerated() {
            bytes += try flac(material, serial: index + 1, title: "Link\(index)")
        }
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(bytes, "chain.oga"))
        let starts = [0, 1, 1 + 24_001.0 / 48_000, 1 + 33_001.0 / 48_000]
        let duration = starts[3] + 7_000.0 / 44_100
        for round in 0..<2 {
            var next: Double? = 0
            for (index, material) in materials.enumerated() {
                #expect(abs((next ?? -1) - starts[index]) < 1e-9)
                try decoder.adoptFormat(at: next ?? 0)
                let format: SampleFormat = .integer(bits: material.bits)
                #expect(decoder.format.sampleFormat == format)
                #expect(decoder.format.sampleRate == material.sampleRate)
                #expect(decoder.metadata.title == "Link\(index)")
                #expect(abs(decoder.format.seconds(frames: decoder.lengthInFrames ?? 0) - duration) < 3e-5)
                let first = decoder.format.frames(seconds: starts[index])
                let skipped = round == 0 ? 0 : 3_000
                try decoder.seek(toFrame: first + Int64(skipped))
                let expected = expectedBytes(material, format).dropFirst(skipped * decoder.format.bytesPerFrame)
                expectSame(try readFrames(decoder), Array(expected), "link \(index)")
                next = decoder.nextFormatChange
            }
            #expect(next == nil)
        }
        try decoder.adoptFormat(at: 1.2)
        #expect(decoder.format.sampleRate == 48_000)
        try decoder.adoptFormat(at: 0.3)
        #expect(decoder.format.sampleRate == 44_100)
    }

    @Test("links of Vorbis with different rates, and of different codings") func codings() throws {
        let links = [
            try lossy("oggenc", .waves(frames: 44_100), serial: 1, title: "0"),
            try lossy("oggenc", .waves(frames: 24_000, sampleRate: 48_000), serial: 2, title: "1"),
            try lossy("opusenc", .waves(frames: 12_000, sampleRate: 48_000), serial: 3, title: "2"),
            try flac(.waves(frames: 4_410, channels: 1), serial: 4, title: "3"),
        ]
        for count in 2...4 {
            let chain = folder.write(Array(links[..<count].joined()), "chain.ogg")
            let decoder = try DecoderRegistry.openDecoder(path: chain)
            var next: Double? = 0
            var titles: [String] = []
            while let place = next {
                try decoder.adoptFormat(at: place)
                titles.append(decoder.metadata.title ?? "")
                try decoder.seek(toFrame: decoder.format.frames(seconds: place))
                let read = try readFrames(decoder)
                if let change = decoder.takeMetadataChange() { titles.append(change.title ?? "") }
                // The same as the link alone.
                let index = min(titles.count - 1, count - 1)
                if index == 0 || index == 3 {
                    let alone = try DecoderRegistry.openDecoder(path: folder.write(links[index], "alone.ogg"))
                    expectSame(read, try readFrames(alone), "link \(index) of \(count)")
                }
                next = decoder.nextFormatChange
            }
            #expect(titles == (0..<count).map { "\($0)" })
        }
    }

    @Test("a chain cut or damaged anywhere: no crash, no hang, no more than there was") func broken() throws {
        var bytes: [UInt8] = []
        for index in 0..<3 {
            let material = AudioMaterial.noise(
                frames: 20_000, sampleRate: index == 1 ? 48_000 : 44_100, seed: UInt64(index))
            bytes += try flac(material, serial: index + 1, title: "x")
        }
        var random = SeededRandom(seed: 4)
        for round in 0..<60 {
            var copy = bytes
            if round % 2 == 0 {
                copy.removeLast(Int(random.next() % UInt64(copy.count)))
            } else {
                for _ in 0..<8 {
                    copy[Int(random.next() % UInt64(copy.count))] = UInt8(truncatingIfNeeded: random.next())
                }
            }
            guard let decoder = try? DecoderRegistry.openDecoder(path: folder.write(copy, "b.oga")) else { continue }
            var read = 0
            var next: Double? = 0
            while let place = next {
                guard (try? decoder.adoptFormat(at: place)) != nil else { break }
                if let bytes = try? readFrames(decoder, frames: 200_000) {
                    read += bytes.count / decoder.format.bytesPerFrame
                }
                next = decoder.nextFormatChange.flatMap { $0 > place ? $0 : nil }
            }
            #expect(read <= 130_000)
        }
    }

    @Test("a recording that begins within a link is played from the next one on, or refused in words")
    func fromTheMiddle() throws {
        let first = try lossy("oggenc", .waves(frames: 200_000), serial: 1, title: "0")
        let second = try lossy("opusenc", .waves(frames: 30_000, sampleRate: 48_000), serial: 2, title: "1")
        let third = try flac(.waves(frames: 20_000, sampleRate: 48_000), serial: 3, title: "2")
        let alone = try readFrames(DecoderRegistry.openDecoder(path: folder.write(second, "alone.opus")))
        let pages = AudioMaterial.oggPages(first)
        for cut in [pages[2].lowerBound, pages[3].lowerBound + 77, first.count - 30] {
            let path = folder.write(Array(first[cut...]) + second, "a.ogg")
            let decoder = try DecoderRegistry.openDecoder(path: path)
            #expect(decoder.metadata.title == "1")
            #expect(decoder.lengthInFrames == 30_000)
            expectSame(try readFrames(decoder), alone, "cut at \(cut)")
            try decoder.seek(toFrame: 0)
            #expect(try readFrames(decoder, frames: 100).count == 800)
            let chain = try DecoderRegistry.openDecoder(path: folder.write(Array(first[cut...]) + third, "b.ogg"))
            #expect(chain.metadata.title == "2")
            #expect(chain.lengthInFrames == 20_000)
            let piece = openingError(Array(first[cut...]), folder)
            #expect(piece?.message.contains("without the headers") == true || cut > first.count - 100)
        }
    }

    @Test("a part of a chain whose format changes in it") func segment() throws {
        let materials = [AudioMaterial.noise(frames: 44_100), .noise(frames: 48_000, sampleRate: 48_000, seed: 2)]
        var bytes: [UInt8] = []
        for (index, material) in materials.enumerated() {
            bytes += try flac(material, serial: index + 1, title: "Link\(index)")
        }
        let segment = MediaSegment(
            audio: .file("/a"), sheet: .file("/a.cue"), number: 1, start: MediaTime(1, perSecond: 2),
            end: MediaTime(3, perSecond: 2))
        let part = try SegmentDecoder(
            DecoderRegistry.openDecoder(path: folder.write(bytes, "chain.oga")), segment)
        #expect(part.lengthInFrames == 44_100)
        expectSame(try readFrames(part), Array(expectedBytes(materials[0], .int16)[(22_050 * 4)...]))
        #expect(part.nextFormatChange == 0.5)
        try part.adoptFormat(at: 0.5)
        #expect(part.lengthInFrames == 48_000)
        #expect(part.nextFormatChange == nil)
        try part.seek(toFrame: 24_000)
        expectSame(try readFrames(part), Array(expectedBytes(materials[1], .int16)[..<(24_000 * 4)]))
    }
}

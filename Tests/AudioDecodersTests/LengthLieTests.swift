import AudioCore
import AudioDecoders
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// Files with lengths and places that exceed the program's numbers: they open, and the present frames play.
@Suite struct LengthLieTests {
    private let folder = TemporaryFolder()

    /// A coded file whose last page claims to end at this sample.
    private func ogg(_ program: String, serial: Int, granule: Int64) throws -> [UInt8] {
        let material = AudioMaterial.waves(frames: 48_000, sampleRate: 48_000)
        let wave = folder.write(material.wave(), "a.wav")
        let file = folder.path("a.ogg")
        let words =
            switch program {
            case "oggenc": ["-Q", "--serial", "\(serial)", "-o", file, wave]
            case "opusenc": ["--quiet", "--serial", "\(serial)", wave, file]
            default: ["--silent", "--force", "--ogg", "--serial-number=\(serial)", "-o", file, wave]
            }
        try #require(AudioMaterial.run(program, words) == 0)
        var bytes = folder.read("a.ogg")
        let last = try #require(AudioMaterial.oggPages(bytes).last)
        var page = Array(bytes[last])
        for index in 0..<8 { page[6 + index] = UInt8(truncatingIfNeeded: granule >> Int64(8 * index)) }
        AudioMaterial.setOggChecksum(&page)
        bytes.replaceSubrange(last, with: page)
        return bytes
    }

    /// Seeks to the edges of a file, and reads there.
    private func play(_ path: String) throws {
        let decoder = try DecoderRegistry.openDecoder(path: path)
        let most = Int64(1e7) * Int64(decoder.format.sampleRate)
        let length = try #require(decoder.boundedLength)
        #expect((0...most).contains(length))
        if let next = decoder.nextFormatChange { #expect((0...1e7).contains(next)) }
        var buffer = [UInt8](repeating: 0, count: 4096 * decoder.format.bytesPerFrame)
        for frame in [0, 1000, length / 2, length - 1, length, most, .max, 0] {
            // A place that is not there is an error, which the decoder survives.
            try? decoder.seek(toFrame: frame)
            for _ in 0..<3 { _ = try? buffer.withUnsafeMutableBytes { try decoder.read(into: $0) } }
        }
        #expect(decoder.format.seconds(frames: length) <= 1e7)
    }

    private static let granules: [Int64] = [.max, .max - 1000, 1 << 62, 1 << 53, .min, -2, 0]

    @Test(arguments: ["flac", "oggenc", "opusenc"], granules)
    func theLastPageOfAnOggFile(program: String, granule: Int64) throws {
        let path = folder.write(try ogg(program, serial: 1, granule: granule), "lie.ogg")
        // A refusal by a library is no death.
        if (try? DecoderRegistry.openDecoder(path: path)) != nil { try play(path) }
    }

    @Test(arguments: ["flac", "oggenc", "opusenc"]) func linksThatEachLastForEver(program: String) throws {
        let bytes = try (1...4).flatMap { try ogg(program, serial: $0, granule: .max - 7) }
        let path = folder.write(bytes, "chain.ogg")
        if (try? DecoderRegistry.openDecoder(path: path)) != nil { try play(path) }
    }

    @Test func linksOfTwoCodingsThatLastForEver() throws {
        let bytes = try ["flac", "opusenc", "flac"].enumerated().flatMap {
            try ogg($0.element, serial: $0.offset + 1, granule: .max - 7)
        }
        let path = folder.write(bytes, "mixed.ogg")
        if (try? DecoderRegistry.openDecoder(path: path)) != nil { try play(path) }
    }

    @Test func oneFrameASecond() throws {
        let path = folder.write(AudioMaterial.noise(frames: 0, sampleRate: 1).rf64(dataBytes: 10 << 30), "slow.wav")
        try #require(truncated(path, to: 10 << 30))
        let decoder = try DecoderRegistry.openDecoder(path: path)
        #expect(decoder.format.sampleRate == 1)
        #expect(decoder.lengthInFrames == 10_000_000)
        try play(path)
    }

    @Test(arguments: [Int64.max, 1 << 62, 1 << 40]) func tracksOfACueSheetFarAway(offset: Int64) throws {
        var content = [UInt8](repeating: 0, count: 396)
        content[395] = 2
        for (number, place) in [(UInt8(1), Int64(0)), (2, offset)] {
            content += (0..<8).map { UInt8(truncatingIfNeeded: place >> Int64(56 - 8 * $0)) }
            content += [number] + [UInt8](repeating: 0, count: 26) + [1]
            content += [UInt8](repeating: 0, count: 8) + [1, 0, 0, 0]
        }
        var options = FLACOptions()
        options.blocks = [(type: 5, content: content)]
        let path = folder.write(AudioMaterial.noise(frames: 100_000).flac(options), "a.flac")
        let sheet = try #require(try EmbeddedCueSheet.sheet(of: MediaFile(path: path)))
        // A place beyond all that can be is the last that can.
        #expect(sheet.tracks.map(\.start.seconds) == [0, 1e7])
        for track in sheet.tracks {
            let whole = try DecoderRegistry.openDecoder(path: path)
            let file = MediaSource.file(try #require(FilePath(Array(path.utf8))))
            let segment = MediaSegment(
                audio: file, sheet: file, number: track.number, start: track.start, end: nil)
            if track.number == 1 {
                let decoder = try SegmentDecoder(whole, segment)
                try decoder.seek(toFrame: 50_000)
            } else {
                let error = #expect(throws: DecodingError.self) { try SegmentDecoder(whole, segment) }
                #expect(error?.message == "its part of the file begins after the end of the file")
            }
        }
        try play(path)
    }
}

/// Sets the length of a file; the new part is a hole.
private func truncated(_ path: String, to size: Int) -> Bool { truncate(path, size) == 0 }

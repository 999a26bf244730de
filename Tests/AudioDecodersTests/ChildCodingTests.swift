import AudioCore
import AudioDecoders
import ChildDecoding
import NowPlaying
import TestSupport
import Testing

/// Codings and containers beyond those that Debian's tools write without a word about gaps.
@Suite(.enabled(if: DecodeProgram.path != nil, "nowplaying-decode is not built: its packages are missing"))
struct ChildCodingTests {
    private let folder = TemporaryFolder()
    private static let frames = 132_300

    /// A file decoded by ffmpeg, as 32 bit floats.
    private func decoded(_ path: String) throws -> [UInt8] {
        try #require(
            AudioMaterial.run("ffmpeg", ["-v", "error", "-y", "-i", path, "-f", "f32le", folder.path("raw")]) == 0)
        return folder.read("raw")
    }

    /// Expects that places are found again, each within so many frames.
    private func expectSeeks(_ decoder: any AudioDecoder, _ whole: [UInt8], within tolerance: Int) throws {
        let size = decoder.format.bytesPerFrame
        for target in [100_000, 0, 30_000, 60_001] {
            try decoder.seek(toFrame: Int64(target))
            let part = try readFrames(decoder, frames: 500)
            let near = max(0, target - tolerance)...(target + tolerance)
            #expect(near.contains { isNear(part, whole[($0 * size)..<(($0 + 500) * size)]) }, "\(target)")
        }
    }

    @Test("Windows Media Audio is what ffmpeg decodes, a place in it near", arguments: ["wmav1", "wmav2"])
    func windowsMedia(_ coder: String) throws {
        _ = try coded(.waves(frames: Self.frames), "a.wma", ["-c:a", coder, "-b:a", "192k"], in: folder)
        let decoder = try DecoderRegistry.openDecoder(path: folder.path("a.wma"))
        #expect(decoder.mediaFormat.codec == "WMA")
        let whole = try readFrames(decoder)
        expectSame(whole, try decoded(folder.path("a.wma")))
        #expect(abs((decoder.lengthInFrames ?? 0) - Int64(Self.frames)) < 8192)
        // Its packets are a tenth of a second and longer, and their times in milliseconds.
        try expectSeeks(decoder, whole, within: 4500)
    }

    @Test("Musepack is what ffmpeg decodes")
    func musepack() throws {
        let source = folder.write(AudioMaterial.waves(frames: Self.frames).wave(), "source.wav")
        try #require(AudioMaterial.run("mpcenc", ["--silent", source, folder.path("a.mpc")]) == 0)
        let decoder = try DecoderRegistry.openDecoder(path: folder.path("a.mpc"))
        #expect(decoder.mediaFormat.codec == "Musepack")
        let whole = try readFrames(decoder)
        #expect(abs(whole.count / decoder.format.bytesPerFrame - Self.frames) < 2304)
        expectSame(whole, folder16(try decoded(folder.path("a.mpc")), decoder.format.sampleFormat))
    }

    /// Floats that were 16 bit before, as those.
    private func folder16(_ floats: [UInt8], _ format: SampleFormat) -> [UInt8] {
        guard format == .int16 else { return floats }
        let samples = floats.withUnsafeBytes { $0.bindMemory(to: Float.self).map { Int16($0 * 32768) } }
        return samples.withUnsafeBytes { Array($0) }
    }

    @Test("AAC whose padding is only in iTunes' own tag is as long as the original, and the same")
    func iTunesTag() throws {
        let material = AudioMaterial.waves(frames: Self.frames)
        let coding = ["-c:a", "aac", "-aac_pns", "0", "-b:a", "192k", "-map_metadata", "-1", "-fflags", "+bitexact"]
        _ = try coded(material, "edited.m4a", coding, in: folder)
        let edited = try readFrames(try DecoderRegistry.openDecoder(path: folder.path("edited.m4a")))
        var file = try coded(material, "plain.m4a", coding + ["-use_editlist", "0"], in: folder)
        let untold = try readFrames(try DecoderRegistry.openDecoder(path: folder.path("plain.m4a")))
        #expect(untold.count > edited.count)
        // The last box of the file is `moov`, which gets one more in it.
        let start = try #require(file.firstRange(of: Array("moov".utf8))).lowerBound - 4
        let box = Self.tag(delay: 1024, frames: Self.frames)
        var size = ByteBuilder()
        size.big(file.count - start + box.count, 4)
        file.replaceSubrange(start..<start + 4, with: size.bytes)
        let decoder = try DecoderRegistry.openDecoder(path: folder.write(file + box, "padded.m4a"))
        #expect(decoder.lengthInFrames == Int64(Self.frames))
        expectSame(try readFrames(decoder), edited)
        try decoder.seek(toFrame: 50_000)
        let size32 = decoder.format.bytesPerFrame
        #expect(isNear(try readFrames(decoder, frames: 1000), edited[(50_000 * size32)..<(51_000 * size32)]))
    }

    /// A box `udta` with iTunes' tag about gaps.
    private static func tag(delay: Int, frames: Int) -> [UInt8] {
        func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
            var builder = ByteBuilder()
            builder.big(content.count + 8, 4)
            builder.text(name)
            return builder.bytes + content
        }
        func hexadecimal(_ number: Int) -> String {
            let text = String(number, radix: 16, uppercase: true)
            return String(repeating: "0", count: 8 - text.count) + text
        }
        let padding = (1024 - (delay + frames) % 1024) % 1024
        let text =
            " 00000000 \(hexadecimal(delay)) \(hexadecimal(padding)) 00000000\(hexadecimal(frames))"
            + String(repeating: " 00000000", count: 8)
        let zero = [UInt8](repeating: 0, count: 4)
        let own = box(
            "----",
            box("mean", zero + Array("com.apple.iTunes".utf8)) + box("name", zero + Array("iTunSMPB".utf8))
                + box("data", [0, 0, 0, 1] + zero + Array(text.utf8)))
        let handler = box(
            "hdlr", zero + zero + Array("mdirappl".utf8) + [UInt8](repeating: 0, count: 9))
        return box("udta", box("meta", zero + handler + box("ilst", own)))
    }
}

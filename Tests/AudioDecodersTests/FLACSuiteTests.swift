import AudioCore
import AudioDecoders
import NowPlaying
import TestSupport
import Testing

/// Subjects of the FLAC test files of the IETF's group CELLAR (subset, uncommon, faulty), made anew with the encoders of
/// libFLAC and FFmpeg: each decodes bit by bit as `flac -d` does, from any place on.
@Suite struct FLACSuiteTests {
    private let folder = TemporaryFolder()

    private func check(_ path: String, _ material: AudioMaterial, _ comment: String) throws {
        let raw = ["--decode", "--silent", "--force", "--force-raw-format", "--endian=little", "--sign=signed"]
        try #require(AudioMaterial.run("flac", raw + ["-o", folder.path("a.raw"), path]) == 0, "\(comment)")
        let decoder = try DecoderRegistry.openDecoder(path: path)
        let format: SampleFormat = .integer(bits: material.bits)
        let expected = expectedBytes(material, format)
        // The reference's own bytes are the samples', at their depth.
        let bytes = (material.bits + 7) / 8
        let theirs = material.samples.flatMap { sample in
            (0..<bytes).map { UInt8(truncatingIfNeeded: sample >> Int32(8 * $0)) }
        }
        expectSame(folder.read("a.raw"), theirs, "\(comment): the reference")
        try checkConformance(decoder, expected: expected, seeks: 100)
    }

    private static let reference: [(options: String, frames: Int, bits: Int, channels: Int)] =
        [16, 192, 254, 512, 725, 1000, 1937, 2304, 4096, 4608].map { ("--blocksize=\($0)", 30_000, 16, 2) }
        + [
            ("--lax --blocksize=65535", 140_000, 16, 2),
            ("--max-lpc-order=0 --qlp-coeff-precision=0", 30_000, 16, 2),
            ("--max-lpc-order=12 --qlp-coeff-precision=15 --exhaustive-model-search", 30_000, 16, 2),
            ("--lax --max-lpc-order=32 --qlp-coeff-precision-search", 12_000, 24, 2),
            ("--rice-partition-order=0,0", 30_000, 16, 2),
            ("--rice-partition-order=8,8 --blocksize=4096", 30_000, 16, 2),
            ("--lax --rice-partition-order=15,15 --blocksize=32768", 70_000, 16, 1),
            ("--mid-side", 30_000, 16, 2), ("--adaptive-mid-side", 30_000, 24, 2),
            ("--disable-constant-subframes", 30_000, 16, 2),
            ("--disable-fixed-subframes", 30_000, 16, 2), ("--disable-verbatim-subframes", 30_000, 8, 1),
            ("-8 --lax", 20_000, 32, 2), ("-5", 20_000, 32, 1), ("-5 --lax", 20_000, 8, 3), ("-8", 20_000, 24, 8),
            ("-5 --padding=100000 --no-seektable", 20_000, 16, 6),
        ]

    @Test("of the reference encoder", arguments: FLACSuiteTests.reference.indices) func referenceEncoder(index: Int)
        throws
    {
        let (options, frames, bits, channels) = Self.reference[index]
        let material = AudioMaterial.waves(frames: frames, channels: channels, bits: bits)
        // Raw samples at the bottom of whole bytes.
        let bytes = (bits + 7) / 8
        let raw = material.samples.flatMap { sample in
            (0..<bytes).map { UInt8(truncatingIfNeeded: sample >> Int32(8 * $0)) }
        }
        let words =
            options.split(separator: " ").map(String.init) + [
                "--silent", "--force", "--force-raw-format", "--endian=little", "--sign=signed", "--bps=\(bits)",
                "--channels=\(channels)", "--sample-rate=44100", "-o", folder.path("a.flac"),
                folder.write(raw, "in.raw"),
            ]
        try #require(AudioMaterial.run("flac", words) == 0, "\(options)")
        try check(folder.path("a.flac"), material, options)
    }

    @Test(
        "of FFmpeg's encoder, other rates, bits that are not used",
        arguments: [
            ("-lpc_type levinson -lpc_passes 3", 44_100, 0), ("-lpc_type cholesky -lpc_passes 2", 48_000, 0),
            ("-lpc_type none", 35_467, 0), ("-ch_mode left_side", 96_000, 0), ("-ch_mode right_side", 192_000, 0),
            ("-ch_mode mid_side -exact_rice_parameters 1", 39_000, 0), ("-frame_size 725", 22_050, 3),
            ("-multi_dim_quant 1", 384_000, 5), ("-compression_level 12", 1, 7),
        ])
    func otherEncoder(options: String, rate: Int, unused: Int32) throws {
        var material = AudioMaterial.waves(frames: 30_000, sampleRate: rate)
        material.samples = material.samples.map { ($0 >> unused) << unused }
        let wave = folder.write(material.wave(), "a.wav")
        let words = ["-v", "error", "-y", "-i", wave] + options.split(separator: " ").map(String.init)
        try #require(
            AudioMaterial.run("ffmpeg", words + ["-strict", "-2", "-c:a", "flac", folder.path("a.flac")]) == 0)
        try check(folder.path("a.flac"), material, options)
    }

    @Test("a header that is wrong about blocks, or missing, is refused in words or plays all the same")
    func faultyHeaders() throws {
        let material = AudioMaterial.noise(frames: 20_000)
        let good = material.flac()
        // Blocks too short, smallest and largest frame too small; the checksum of the samples wrong.
        for (place, value) in [(8, [0x04, 0x00, 0x04, 0x00]), (12, [0, 0, 1]), (15, [0, 0, 1]), (26, [1, 2, 3])]
            as [(Int, [UInt8])]
        {
            var bytes = good
            bytes.replaceSubrange(place..<place + value.count, with: value)
            let decoder = try DecoderRegistry.openDecoder(path: folder.write(bytes, "a.flac"))
            expectSame(try readFrames(decoder), expectedBytes(material, .int16), "byte \(place)")
            try decoder.seek(toFrame: 15_000)
            expectSame(try readFrames(decoder), expectedBytes(material, .int16)[60_000...], "byte \(place)")
        }
        // Samples of other depths or channels than the blocks have.
        for (place, value) in [(20, 0x0E), (20, 0x00)] as [(Int, UInt8)] {
            var bytes = good
            bytes[place] = value
            #expect(openingError(bytes, folder)?.message.isEmpty == false, "byte \(place)")
        }
        let comment = AudioMaterial.vorbisComments([Array("TITLE=x".utf8)])
        let padding: [UInt8] = [comment.type, 0, 0, UInt8(comment.content.count)] + comment.content
        // No STREAMINFO; another block before it; no header at all, and blocks without format data.
        let marker = Array("fLaC".utf8)
        let alone: [UInt8] = marker + [0x84] + padding.dropFirst() + good[42...]
        let before: [UInt8] = marker + padding + good[4...]
        for bytes in [alone, before, Array(good[42...])] {
            #expect(openingError(bytes, folder)?.message.isEmpty == false)
        }
    }
}

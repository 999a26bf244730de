import AudioCore
import AudioDecoders
import Glibc
import TestSupport
import Testing

/// Each format that Debian's programs can write plays. These have no encoder in Debian, and no test here: TAK, Shorten,
/// ATRAC (OpenMG), VQF, E-AC-3 and DTS inside RealMedia, QCP, iLBC, xWMA, DTS-HD, PAF, and the sound of games but ADX and KVAG.
@Suite(.enabled(if: DecodeProgram.path != nil, "nowplaying-decode is not built: its packages are missing"))
struct ChildFormatTests {
    private let folder = TemporaryFolder()
    /// Made once: one second of sound.
    private static let wave = AudioMaterial.waves(frames: 44_100).wave()
    private static let speech = AudioMaterial.waves(frames: 8000, sampleRate: 8000, channels: 1).wave()

    /// Name of the file, and its command line between the source and the name.
    struct Format: CustomTestStringConvertible, Sendable {
        var name: String
        var program = "ffmpeg"
        var options: [String] = []
        var isSpeech = false
        /// True if FFmpeg can seek in it.
        var isSought = true
        var testDescription: String { "\(program) \(name)" }
    }

    private static let formats: [Format] = [
        Format(name: "a.ac3", options: ["-c:a", "ac3"]), Format(name: "a.eac3", options: ["-c:a", "eac3"]),
        Format(name: "a.dts", options: ["-strict", "-2", "-c:a", "dca"]),
        Format(name: "a.thd", options: ["-strict", "-2", "-ar", "48000", "-c:a", "truehd"]),
        Format(name: "a.mlp", options: ["-strict", "-2", "-ar", "48000", "-c:a", "mlp"]),
        Format(name: "a.voc"), Format(name: "a.flv", options: ["-c:a", "libmp3lame"]),
        Format(name: "b.flv", options: ["-c:a", "aac"]),
        Format(name: "c.flv", options: ["-c:a", "nellymoser", "-ar", "22050", "-ac", "1"]),
        Format(name: "a.avi", options: ["-c:a", "libmp3lame"]), Format(name: "b.avi", options: ["-c:a", "ac3"]),
        Format(name: "a.ogg", options: ["-c:a", "libspeex", "-ar", "16000", "-ac", "1"]),
        Format(name: "a.spx", program: "speexenc", isSpeech: true),
        Format(name: "a.aifc", options: ["-c:a", "adpcm_ima_qt"]),
        Format(name: "a.wav", options: ["-c:a", "libmp3lame"]),
        Format(name: "b.wav", options: ["-c:a", "libgsm_ms", "-ar", "8000", "-ac", "1"]),
        Format(name: "c.wav", options: ["-c:a", "ac3"]), Format(name: "d.wav", options: ["-c:a", "adpcm_yamaha"]),
        Format(name: "e.wav", options: ["-c:a", "g726", "-ar", "8000", "-ac", "1"]),
        Format(name: "a.mpg", options: ["-c:a", "mp2"]), Format(name: "a.ts", options: ["-c:a", "aac"]),
        Format(name: "a.nut", options: ["-c:a", "flac"]), Format(name: "a.mov", options: ["-c:a", "aac"]),
        Format(name: "a.mka", options: ["-strict", "-2", "-ar", "48000", "-c:a", "truehd"]),
        Format(name: "a.rm", options: ["-c:a", "ac3"], isSought: false),
        Format(name: "a.asf", options: ["-c:a", "wmav2"]),
        Format(name: "a.adx", options: ["-c:a", "adpcm_adx"]),
        Format(name: "a.loas", options: ["-c:a", "aac", "-f", "latm"]),
        Format(name: "a.spdif", options: ["-c:a", "ac3", "-f", "spdif"]),
        Format(name: "a.c2", options: ["-c:a", "libcodec2", "-ar", "8000", "-ac", "1"]),
        Format(name: "a.kvag", options: ["-c:a", "adpcm_ima_ssi", "-f", "kvag"], isSought: false),
        Format(name: "a.caf", options: ["-c:a", "alac"]),
        Format(name: "a.amr-nb", program: "sox", isSpeech: true),
        Format(name: "a.8svx", program: "sox", isSpeech: true),
        Format(name: "a.maud", program: "sox", isSpeech: true), Format(name: "a.nist", program: "sox", isSpeech: true),
        Format(name: "a.sf", program: "sox", isSpeech: true), Format(name: "a.sox", program: "sox", isSpeech: true),
        Format(name: "a.pvf", program: "sox", isSpeech: true), Format(name: "a.avr", program: "sox", isSpeech: true),
        Format(name: "a.hcom", program: "sox", options: ["-r", "22050"], isSpeech: true, isSought: false),
        Format(name: "a.wve", program: "sox", isSpeech: true),
    ]

    @Test("a second of sound in each format is a second of sound, also from its middle on", arguments: formats)
    func plays(_ format: Format) throws {
        let source = folder.write(format.isSpeech ? Self.speech : Self.wave, "source.wav")
        let path = folder.path(format.name)
        let words: [String]
        switch format.program {
        case "ffmpeg": words = ["-v", "error", "-nostdin", "-y", "-i", source] + format.options + [path]
        case "sox": words = [source] + format.options + [path]
        default: words = [source, path]
        }
        try #require(AudioMaterial.run(format.program, words) == 0, "\(format.program) can't write it")
        // The content decides its kind.
        let unnamed = folder.path("unnamed")
        try #require(rename(path, unnamed) == 0)
        let decoder = try DecoderRegistry.openDecoder(path: unnamed)
        let rate = decoder.format.sampleRate
        let size = decoder.format.bytesPerFrame
        let whole = try readFrames(decoder)
        // Encoders put up to a tenth of a second before and behind.
        #expect((rate * 9 / 10...rate * 13 / 10).contains(whole.count / size), "\(whole.count / size) at \(rate)")
        #expect(Set(whole).count > 16, "it is silence")
        if !format.isSought {
            #expect(throws: DecodingError.self) {
                try decoder.seek(toFrame: Int64(rate / 2))
                _ = try readFrames(decoder)
            }
        } else if decoder.isSeekable {
            try decoder.seek(toFrame: Int64(rate / 2))
            let rest = try readFrames(decoder).count / size
            #expect((rate * 3 / 10...rate * 9 / 10).contains(rest), "\(rest) at \(rate)")
        }
    }
}

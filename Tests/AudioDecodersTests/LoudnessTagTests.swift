import AudioCore
import AudioDecoders
import NowPlaying
import TestSupport
import Testing

/// Loudness from tags.
@Suite struct LoudnessTagTests {
    let folder = TemporaryFolder()

    private func loudness(_ comments: [String]) throws -> LoudnessTags? {
        var options = FLACOptions()
        options.blocks = [AudioMaterial.vorbisComments(comments.map { Array($0.utf8) })]
        let file = AudioMaterial.noise(frames: 20).flac(options)
        return try DecoderRegistry.openDecoder(path: folder.write(file, "a")).metadata.loudness
    }

    @Test func replayGain() throws {
        let read = try loudness([
            "REPLAYGAIN_TRACK_GAIN=-6.54 dB", "REPLAYGAIN_TRACK_PEAK=0.988553", "replaygain_album_gain=+1.25 dB",
            "REPLAYGAIN_ALBUM_PEAK=1.012",
        ])
        #expect(read == LoudnessTags(trackGain: -6.54, trackPeak: 0.988553, albumGain: 1.25, albumPeak: 1.012))
    }

    @Test(
        arguments: [
            ("-6.54", -6.54), ("+3,2dB", 3.2), (" -1 DB ", -1), ("0.00 dB", 0), ("-0 dB", 0), ("60 dB", 60),
            ("60.1 dB", nil), ("-1e9 dB", nil), ("dB", nil), ("", nil), ("nan", nil), ("inf dB", nil), ("0x10 dB", nil),
            ("loud", nil), ("- 3 dB", -3), ("1.2.3 dB", nil), ("\(String(repeating: "1", count: 4000)) dB", nil),
        ] as [(String, Double?)])
    func decibels(text: String, gain: Double?) throws {
        #expect(try loudness(["REPLAYGAIN_TRACK_GAIN=\(text)"])?.trackGain == gain)
    }

    @Test(
        "the reference of R128 lies 5 dB below ReplayGain's",
        arguments: [
            ("-1536", -1), ("0", 5), ("256", 6), ("-1.5", nil), ("99999", nil), ("x", nil),
        ] as [(String, Double?)])
    func r128(text: String, gain: Double?) throws {
        #expect(try loudness(["R128_TRACK_GAIN=\(text)"])?.trackGain == gain)
    }

    @Test("ReplayGain wins over R128, as it has peaks") func both() throws {
        let read = try loudness(["R128_TRACK_GAIN=0", "R128_ALBUM_GAIN=256", "REPLAYGAIN_ALBUM_GAIN=-2 dB"])
        #expect(read == LoudnessTags(albumGain: -2))
    }

    @Test("peaks alone give no gain", arguments: ["0.5", "0", "-1", "101", "x"]) func peaksAlone(peak: String) throws {
        #expect(try loudness(["REPLAYGAIN_TRACK_PEAK=\(peak)"]) == nil)
        let read = try loudness(["REPLAYGAIN_TRACK_PEAK=\(peak)", "REPLAYGAIN_TRACK_GAIN=1"])
        #expect(read?.trackPeak == (peak == "0.5" ? 0.5 : nil))
    }
}

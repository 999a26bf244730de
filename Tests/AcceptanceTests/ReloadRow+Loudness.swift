import ControlProtocol
import NowPlaying
import TestSupport
import Testing

extension ReloadRow {
    /// The source of loudness, by the gain of a file that has tags and was measured.
    static let loudnessSource = ReloadRow(
        name: "playback.loudness-source", before: "tags", after: "measured", looks: ("-6.0", "-3.0"),
        others: "[playback]\nloudness = track\n",
        effect: .inSessions(["main", "early", "late"]) { house, session in
            var options = FLACOptions()
            options.blocks = [AudioMaterial.vorbisComments([Array("REPLAYGAIN_TRACK_GAIN=-6 dB".utf8)])]
            let silence = AudioMaterial(
                sampleRate: 8000, channels: 1, bits: 16, samples: [Int32](repeating: 0, count: 60 * 8000))
            let file = house.folder.write(silence.flac(options), "\(session).flac")
            do { try Measured.write([(session, LoudnessTags(trackGain: -3))], in: house.folder) } catch {
                Issue.record(error)
            }
            house.owner.call("play", ["session": .string(session), "uri": .string(file)])
            house.awaitSound(of: session)
            let gain = house.state(session)["loudness"]?["gain"]?.doubleValue
            house.owner.call("pause", ["session": .string(session)])
            return gain.map { "\($0)" } ?? ""
        })
}

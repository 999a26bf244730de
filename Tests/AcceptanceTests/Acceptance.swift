import ControlProtocol
import LinuxSystem
import TestSupport
import Testing

/// All tests against the real daemon, one at a time: recordings want the machine for themselves.
@Suite(.serialized, .oneAtATime) enum Acceptance {}

/// One private PulseAudio for all; each test brings its own sink.
enum SharedServer {
    static let pulseAudio = Task { await SoundServer.pulseAudio([TestSink("default")]) }
}

/// Number of repetitions: more at night.
func repetitions(_ count: Int, nightly: Int) -> Int { environmentHas("NOWPLAYING_NIGHTLY") ? nightly : count }

extension RealDaemon {
    /// A daemon that plays into nothing, at the pace of a device.
    static func silent(readsTitles: Bool = true, _ arguments: [String] = []) async -> RealDaemon {
        await start(nil, output: "null", readsTitles: readsTitles, arguments)
    }

    /// Files of silence of so many seconds each, `0.wav`, `1.wav`, …
    func silences(_ seconds: Double...) -> JSONValue {
        .array(seconds.indices.map { .string(folder.silence("\($0).wav", seconds: seconds[$0])) })
    }
}

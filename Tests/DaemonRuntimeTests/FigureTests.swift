import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import Sessions

/// `figures.get`: the counts, and the answer of the real daemon.
@Suite(.timeLimit(.minutes(4))) struct FigureTests {
    private static func state(
        _ cause: Cause, _ state: PlaybackState, _ item: Int64?, play: Int = 1, session: String = "main"
    ) -> NowPlayingState {
        var made = NowPlayingState(
            anchor: PlaybackAnchor(elapsed: 0, rate: 0, monotonic: MonotonicTime(nanoseconds: 5)))
        made.session = session
        made.cause = cause
        made.state = state
        made.item = item.map {
            NowPlayingItem(id: ItemID($0), play: play, uri: "file:///a", metadata: MediaMetadata(), duration: nil)
        }
        return made
    }

    @Test("an item counts when it begins to play, and again when it starts again") func plays() {
        var tally = EventTally()
        func plays(_ cause: Cause, _ state: PlaybackState, _ item: Int64?, _ play: Int = 1, in session: String = "main")
            -> Int
        {
            tally.take(Self.state(cause, state, item, play: play, session: session))
            return tally.plays
        }
        #expect(plays(.queue, .stopped, 1) == 0)
        #expect(plays(.play, .playing, 1) == 1)
        #expect(plays(.seek, .playing, 1) == 1)
        #expect(plays(.pause, .paused, 1) == 1)
        #expect(plays(.play, .playing, 1) == 1)
        #expect(plays(.stall, .stalled, 1) == 1)
        #expect(plays(.unstall, .playing, 1) == 1)
        #expect(plays(.track, .playing, 2) == 2)
        #expect(plays(.pause, .paused, 2) == 2)
        // A track that changes during a pause has not played.
        #expect(plays(.track, .paused, 3) == 2)
        #expect(plays(.track, .paused, 4) == 2)
        #expect(plays(.play, .playing, 4) == 3)
        #expect(plays(.track, .playing, 4, 2) == 4)
        #expect(plays(.stop, .stopped, 4, 2) == 4)
        #expect(plays(.play, .playing, 4, 2) == 5)
        #expect(plays(.play, .playing, 4, 2, in: "night") == 6)
        #expect(plays(.metadata, .playing, 4, 2) == 6)
        #expect(plays(.play, .playing, nil) == 6)
        #expect(tally.stalls == 1 && tally.drifts == 0)
    }

    @Test("stalls and drifts count by their cause", arguments: Cause.allCases) func causes(cause: Cause) {
        var tally = EventTally()
        tally.take(Self.state(cause, .paused, 1))
        #expect(tally.stalls == (cause == .stall ? 1 : 0) && tally.drifts == (cause == .drift ? 1 : 0))
    }

    @Test("the daemon's answer: plays, the queues and the states of its sessions, and its clients") func daemon()
        async throws
    {
        let folder = TemporaryFolder()
        let words = [
            BuiltProgram.path("nowplayingd"), "--socket", folder.path + "/control.sock", "--state-directory",
            folder.path + "/state", "--output", "null", "--config", "/dev/null",
        ]
        let process = await LoopThread.run { TestProcess(words) }
        defer { process.end() }
        let path = folder.path + "/control.sock"
        try #require(becomes { (try? RawClient(path).call("hello")) != nil })
        let client = try RawClient(path)
        func figures() throws -> JSONValue { try #require(try client.call("figures.get")["result"]) }
        let before = try figures()
        #expect(before["plays"] == 0 && before["queue"] == 0 && before["sessions"]?["stopped"] == 1)
        let songs = (0..<3).map { JSONValue.string(folder.silence("\($0).wav")) }
        _ = try client.call("queue.add", ["items": .array(songs), "play": true])
        #expect(becomes { (try? figures())?["plays"] == 1 })
        _ = try client.call("nextTrack")
        #expect(becomes { (try? figures())?["plays"] == 2 })
        _ = try client.call("pause")
        _ = try client.call("play")
        let other = try RawClient(path)
        _ = try other.call("session.create", ["name": "night"])
        _ = try other.call("queue.add", ["items": .array(songs), "session": "night"])
        let after = try figures()
        #expect(after["plays"] == 2 && after["queue"] == 6 && after["clients"] == 2, "\(after)")
        #expect(after["sessions"]?["playing"] == 1 && after["sessions"]?["stopped"] == 1, "\(after)")
        #expect(after["stalls"] == 0 && after["drifts"] == 0 && after["underruns"] == 0, "\(after)")
        #expect((after["uptime"]?.doubleValue ?? 0) > (before["uptime"]?.doubleValue ?? 0))
        #expect((after["wakeups"]?.integerValue ?? 0) > (before["wakeups"]?.integerValue ?? 0))
        // An external session counts in sessions alone.
        _ = try other.call("session.create", ["name": "cast", "external": true, "commands": []])
        let anchor: JSONValue = ["elapsed": 1, "rate": 1]
        _ = try other.call(
            "nowPlaying.publish", ["session": "cast", "state": "playing", "item": ["title": "a"], "anchor": anchor])
        let last = try figures()
        #expect(last["plays"] == 2 && last["queue"] == 6, "\(last)")
        let states = last["sessions"]?.objectValue?.members.compactMap(\.value.integerValue) ?? []
        #expect(states.count == PlaybackState.allCases.count && states.reduce(0, +) == 3, "\(last)")
        #expect(try client.call("figures.get", ["x": 1])["error"] != nil)
    }
}

extension TemporaryFolder {
    /// Makes a file of a minute of silence, and returns its path.
    func silence(_ name: String) -> String {
        let samples = [Int32](repeating: 0, count: 60 * 8000)
        return write(AudioMaterial(sampleRate: 8000, channels: 1, bits: 16, samples: samples).wave(), name)
    }
}

import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Media roots that are missing, without anything being mounted.
    @Suite(.timeLimit(.minutes(2))) struct MediaRootTests {
        init() { LoopThread.start() }

        @Test("a media root that is put back: play goes on where it was")
        func putBack() async throws {
            let folder = TemporaryFolder()
            let music = folder.path("music")
            mkdir(music, 0o755)
            _ = folder.silence("music/a.wav", seconds: 60)
            let settings = "[access]\nmedia-roots = \(music)\n[playback]\nresume = playing\n"
            let configuration = folder.write(Array(settings.utf8), "nowplayingd.conf")
            let first = await RealDaemon.start(nil, output: "null", in: folder, ["--config", configuration])
            let client = first.connect()
            #expect(client.call("play", ["uri": .string(music + "/a.wav"), "position": 30])?.playing == "playing")
            client.call("queue.add", ["items": first.silences(5)])
            first.process.signal(SIGKILL)
            first.process.wait()
            #expect(rename(music, folder.path("away")) == 0)
            let second = await RealDaemon.start(nil, output: "null", in: folder, ["--config", configuration])
            let follower = second.connect()
            var state = try #require(follower.call("nowPlaying.subscribe"))
            while state.playing != "stalled", state != .null { state = follower.event() }
            #expect(state["stall"]?["reason"] == "mediaGone" && state["queue"]?["index"] == 0)
            #expect(state.elapsed >= 30 && state.elapsed < 40)
            #expect(rename(folder.path("away"), music) == 0)
            let back = follower.event("unstall")
            #expect(back.playing == "playing" && abs(back.elapsed - state.elapsed) < 0.01)
            #expect(back["queue"]?["index"] == 0)
            #expect(second.stop() == 0)
        }
    }
}

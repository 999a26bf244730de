import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// The timers that nowplayingd(1) names under WAKEUPS, and no others.
    @Suite(
        .timeLimit(.minutes(5)),
        .enabled(
            if: TimerTrace.isPossible,
            "NOT TESTED: which timers the programs set; it needs strace, and processes may not be traced here"))
    struct TimerTests {
        /// strace's output about a program so far.
        private func trace(_ name: String, _ daemon: RealDaemon) -> TimerTrace {
            TimerTrace(String(decoding: daemon.folder.read(name + ".trace"), as: UTF8.self))
        }

        @Test("playing, a missing request and the end of the item are awaited; paused, nothing is, with all bridges")
        func timers() async throws {
            let server = await SharedServer.pulseAudio.value
            let module = server.load(TestSink("timers", rewinds: true))
            defer { server.control("unload-module", module) }
            let folder = TemporaryFolder()
            let daemon = await RealDaemon.start(
                server, sink: "timers", in: folder, before: TimerTrace.words(folder.path("nowplayingd.trace")))
            let set = await EveryBridge.start(daemon) { TimerTrace.words(folder.path($0 + ".trace")) }
            let names = ["nowplayingd"] + set.bridges.map(\.name)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let file = folder.silence("a.wav", seconds: 600, rate: 44100, channels: 2)
            client.call("play", ["uri": .string(file)])
            #expect(client.call("changePlaybackPosition", ["position": 100])?.playing == "playing")
            // Its end is not decoded yet; the state was saved by then, and the server has answered everything: if no request
            // comes within a second after the next one is due, the server hangs.
            #expect(
                becomes {
                    let due = trace("nowplayingd", daemon).due
                    return due.count == 1 && due[0] > now() + 1.5 && due[0] < now() + 8
                }, "\(trace("nowplayingd", daemon).due) at \(now())")
            let state = try #require(client.call("changePlaybackPosition", ["position": 590]))
            let end = state.monotonic + 600 - state.elapsed
            #expect(
                becomes { trace("nowplayingd", daemon).due.contains { $0 > end - 1.5 && $0 < end + 0.1 } },
                "\(trace("nowplayingd", daemon).due) at \(now()), the end is at \(end)")

            client.call("pause")
            // A position that stands for a second has settled: the broker and the bus are up to date, the hooks have run.
            #expect(
                standsStill { names.map { trace($0, daemon).count } },
                "they go on: \(names.map { trace($0, daemon).count })")
            for name in names {
                let seen = trace(name, daemon)
                #expect(seen.count > 0, "nothing was seen of \(name)")
                #expect(seen.limits.isEmpty, "\(name): \(seen.limits.prefix(5))")
                // A broker insists on a sign of life, see nowplaying-mqtt(1): at most one an hour here.
                let soon = seen.due.filter { name != "nowplaying-mqtt" || $0 < now() + 3600 }
                #expect(soon.isEmpty, "\(name), paused: due \(soon) at \(now())")
            }
        }
    }
}

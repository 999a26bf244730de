import ControlProtocol
import Foundation
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

        /// The descriptors in the interest lists of a daemon's epoll descriptors (proc(5), fdinfo).
        private func waitedDescriptors(_ daemon: RealDaemon) -> Set<String> {
            let folder = "/proc/\(daemon.process.pid)/fdinfo"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let lines = names.flatMap { name in
                ((try? String(contentsOfFile: folder + "/" + name, encoding: .utf8)) ?? "").split(separator: "\n")
            }
            // `tfd:       15 events: …`
            return Set(
                lines.filter { $0.hasPrefix("tfd:") }.compactMap { line in
                    line.split(separator: " ").dropFirst().first.map(String.init)
                })
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

        @Test("at a high sampling rate, the moment before the next request is awaited; a pause cancels it")
        func plannedDecoding() async throws {
            let server = await SharedServer.pulseAudio.value
            let module = server.load(TestSink("planned", rate: 192_000, rewinds: true))
            defer { server.control("unload-module", module) }
            let folder = TemporaryFolder()
            let daemon = await RealDaemon.start(
                server, sink: "planned", in: folder, before: TimerTrace.words(folder.path("nowplayingd.trace")))
            let client = daemon.connect()
            let file = folder.silence("a.wav", seconds: 600, rate: 192_000, channels: 2)
            #expect(client.call("play", ["uri": .string(file)])?.playing == "playing")
            // The null sink takes 2 s at once. The loop waits for its own timers, and not for this one.
            var alarm: String?
            let isSet = becomes {
                let (now, waited) = (now(), waitedDescriptors(daemon))
                alarm =
                    trace("nowplayingd", daemon).timers.first { descriptor, timer in
                        !waited.contains(descriptor) && timer.due.map { $0 > now + 1 && $0 < now + 2 } ?? false
                    }?.key
                return alarm != nil
            }
            #expect(isSet)
            client.call("pause")
            let descriptor = try #require(alarm)
            // One that has expired would keep its instant here.
            #expect(becomes { trace("nowplayingd", daemon).timers[descriptor]?.due == nil })
        }
    }
}

import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Nothing ticks.
    @Suite(.timeLimit(.minutes(5))) struct WakeupTests {
        @Test("paused, stopped and fresh daemons never wake, nor do their bridges; a playing one rarely")
        func wakeups() async throws {
            let server = await SharedServer.pulseAudio.value
            let sinks = (0..<4).map { TestSink("wakeups\($0)", rewinds: true) }
            let modules = sinks.map { server.load($0) }
            defer { for module in modules { server.control("unload-module", module) } }
            // Somebody else wants 50 ms on the sink of the second playing one.
            let address = server.address
            let other = await LoopThread.run {
                TestProcess([
                    "pacat", "--server=\(address)", "--device=wakeups1", "--latency-msec=50", "--raw", "/dev/zero",
                ])
            }
            defer { other.end() }
            let rendered = now()
            var daemons: [RealDaemon] = []
            for index in [0, 1, 2, 2, 2, 3] {
                daemons.append(await RealDaemon.start(server, sink: sinks[index].name))
            }
            let paused = await EveryBridge.start(daemons[2])
            let fresh = await EveryBridge.start(daemons[4])
            // A null sink does not take back rendered silence, up to 2 s, for a short latency.
            usleep(UInt32(max(0, 2.5 - (now() - rendered)) * 1e6))
            for (index, daemon) in daemons.enumerated() where index != 4 {
                let client = daemon.connect()
                var file = daemon.folder.silence("a.wav", seconds: 600, rate: 44100, channels: 2)
                if index == 5, RealDaemon.hasDecodeProgram { file = try coded(file, in: daemon.folder) }
                client.call("nowPlaying.subscribe")
                let answer = client.call("play", ["uri": .string(file)])
                #expect(answer?.playing == "playing", "\(index): \(client.notifications)")
                if index == 2 { client.call("pause") }
                if index == 3 { client.call("stop") }
            }
            let bridges = [("paused", paused), ("fresh", fresh)].flatMap { part, set in
                set.bridges.map { ("\($0.name), \(part)", $0.process) }
            }
            let names =
                ["playing", "playing beside another client", "paused", "stopped", "fresh", "playing from a child"]
                + bridges.map(\.0)
            let processes = daemons.map(\.process) + bridges.map(\.1)
            // Their commands are done: those that play sleep until the next refill, the others for good.
            let (playing, quiet) = ([0, 1, 5], processes.indices.filter { ![0, 1, 5].contains($0) })
            #expect(standsStill { quiet.map { processes[$0].contextSwitches } })
            for index in playing { #expect(processes[index].sleepsForASecond, "\(names[index])") }
            let seconds = repetitions(10, nightly: 60)
            let before = processes.map(\.contextSwitches)
            usleep(UInt32(seconds) * 1_000_000)
            let counts = zip(processes, before).map { $0.contextSwitches - $1 }
            #expect(before.allSatisfy { $0 > 0 }, "not all of them run: \(before)")
            for (name, count) in zip(names, counts) {
                // Nearly four for each refill, one every 3 s, are 1.2 a second, as the benchmark measures it, too. In ten
                // seconds there may be a refill more, and for each one more where threads meet on a busy machine.
                let most = name.hasPrefix("playing") ? 2 * seconds + 4 : 0
                #expect(count <= most, "\(name): \(count) in \(seconds) s")
            }
            print(
                "voluntary switches in \(seconds) s:", zip(names, counts).map { "\($0) \($1)" }.joined(separator: ", "))
        }

        @Test("what is counted is each thread, once")
        func threads() async {
            let process = await LoopThread.run { TestProcess(["sleep", "60"]) }
            defer { process.end() }
            #expect(becomes { process.contextSwitches > 0 })
            #expect(standsStill { process.contextSwitches })
            #expect(process.contextSwitches == ProcessFigures(process.pid, withMemory: false).wakeups)
        }

        @Test("until a pause is answered, the sound server is asked to stop and for the position, and for nothing else")
        func pauseAsksTwice() async throws {
            let server = await SharedServer.pulseAudio.value
            let sink = TestSink("asked", rewinds: true)
            let module = server.load(sink)
            defer { server.control("unload-module", module) }
            let folder = TemporaryFolder()
            let trace = folder.path("trace")
            let daemon = await RealDaemon.start(
                server, sink: sink.name, in: folder, readsTitles: false,
                before: [
                    "strace", "-D", "-qq", "-f", "-s", "200", "-o", trace, "-e",
                    "trace=recvmsg,sendto,sendmsg,epoll_ctl",
                ])
            let client = daemon.connect()
            client.call("queue.add", ["items": daemon.silences(60), "play": true])
            let rounds = 5
            for _ in 0..<rounds {
                client.call("pause")
                client.call("play")
            }
            #expect(daemon.stop() == 0)
            let found = Self.calls(String(decoding: folder.read("trace"), as: UTF8.self), of: daemon.process.pid)
            try #require(found.count == rounds)
            // The server may also want frames, so that not each round is the least one. The last one is the answer.
            #expect(found.map { $0.count { $0.hasPrefix("send") } }.min() == 3, "\(found)")
            #expect(found.map { $0.count { $0 == "epoll_ctl" } }.min() == 0, "\(found)")
        }

        /// Names of the calls of a process from the reading of each pause to its answer, in strace's text.
        private static func calls(_ text: String, of process: pid_t) -> [[String]] {
            var found: [[String]] = []
            var isInside = false
            for line in text.split(separator: "\n") where line.hasPrefix("\(process) ") {
                if line.contains(#"method\":\"pause"#) {
                    isInside = true
                    found.append([])
                } else if isInside, !line.contains("resumed>") {
                    found[found.count - 1].append(String(line.split(separator: " ")[1].prefix { $0 != "(" }))
                    isInside = !line.contains(#"\"jsonrpc\":\"2.0\",\"id"#)
                }
            }
            return found
        }

        /// A minute of a file in a coding that a child decodes.
        private func coded(_ file: String, in folder: TemporaryFolder) throws -> String {
            let path = folder.path("a.m4a")
            try #require(
                AudioMaterial.run("ffmpeg", ["-v", "error", "-i", file, "-t", "120", "-c:a", "aac", path]) == 0)
            return path
        }
    }
}

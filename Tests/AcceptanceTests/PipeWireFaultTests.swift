import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// PipeWire's server that is killed, hangs, or loses its device.
    @Suite(.timeLimit(.minutes(5))) struct PipeWireFaultTests {
        init() { LoopThread.start() }

        @Test("PipeWire's server is killed, hangs, and its device goes: play goes on where it was each time")
        func faults() async throws {
            let server = await SoundServer.pipeWire(sink: "sink")
            let daemon = await RealDaemon.start(server)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let file = daemon.folder.silence("a.wav", seconds: 6000)
            #expect(client.call("play", ["uri": .string(file)])?.playing == "playing")
            var last = client.event("play")
            var errors: [Double] = []
            let kills = Campaign.times(1, long: 20)
            for _ in 0..<kills {
                server.kill()
                let stall = client.event("stall")
                #expect(stall["stall"]?["reason"] == "noServer" && stall.rate == 0)
                errors.append(stall.elapsed - last.position(at: stall.monotonic))
                await server.startPipeWirePulse()
                last = client.event("unstall")
                #expect(last.playing == "playing" && abs(last.elapsed - stall.elapsed) < 0.1, "\(stall) \(last)")
            }
            // Published no better than to one or two of its quanta of 43 ms.
            #expect(errors.allSatisfy { abs($0) < 0.1 }, "\(errors)")
            Campaign.report(
                "PipeWire's server killed", kills,
                "published position off the clock before: \(Campaign.range(errors.map { $0 * 1000 })) ms")
            for _ in 0..<Campaign.times(1, long: 10) {
                server.process.signal(SIGSTOP)
                #expect(client.call("changePlaybackPosition", ["position": 100])?.playing == "stalled")
                #expect(client.event("stall")["stall"]?["reason"] == "serverHung")
                server.process.signal(SIGCONT)
                last = client.event("unstall")
                #expect(last.playing == "playing" && abs(last.elapsed - 100) < 0.2, "\(last)")
            }
            // Nobody asks it for anything.
            server.process.signal(SIGSTOP)
            let stall = client.event("stall")
            #expect(stall["stall"]?["reason"] == "serverHung" && stall.rate == 0, "\(stall)")
            #expect(stall.elapsed <= last.position(at: stall.monotonic), "\(stall) \(last)")
            #expect(stall.elapsed >= last.elapsed - 0.2, "\(stall) \(last)")
            server.process.signal(SIGCONT)
            last = client.event("unstall")
            #expect(last.playing == "playing" && abs(last.elapsed - stall.elapsed) < 0.2, "\(last)")
            Campaign.report(
                "PipeWire's server hangs (SIGSTOP), goes on", Campaign.times(1, long: 10),
                "heard again at the place asked for")
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("PipeWire's device goes and comes: it is waited for")
        func device() async throws {
            let server = await SoundServer.pipeWire(sink: "sink")
            let sink = TestSink("dac", rate: 48000)
            var module = server.load(sink)
            let daemon = await RealDaemon.start(server, sink: "dac")
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let file = daemon.folder.silence("a.wav", seconds: 6000)
            #expect(client.call("play", ["uri": .string(file)])?.playing == "playing")
            var last = client.event("play")
            #expect(last["output"]?["name"] == "dac")
            var errors: [Double] = []
            for _ in 0..<Campaign.times(1, long: 20) {
                server.control("unload-module", module)
                let stall = client.event("stall")
                #expect(stall["stall"]?["reason"] == "noOutput" && stall.rate == 0)
                errors.append(stall.elapsed - last.position(at: stall.monotonic))
                module = server.load(sink)
                last = client.event("unstall")
                #expect(last.playing == "playing" && abs(last.elapsed - stall.elapsed) < 0.15)
                #expect(last["output"]?["name"] == "dac")
            }
            #expect(errors.allSatisfy { abs($0) < 0.15 }, "\(errors)")
            Campaign.report(
                "PipeWire's sink unloaded and loaded (wait)", errors.count,
                "published position off the clock before: \(Campaign.range(errors.map { $0 * 1000 })) ms")
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("PipeWire reports no suspension, and sound continues; a stream that is moved; a neighbour that plays")
        func suspendedAndMoved() async throws {
            let server = await SoundServer.pipeWire(sink: "sink")
            for sink in [TestSink("dac", rate: 48000), TestSink("other", rate: 96000)] { _ = server.load(sink) }
            let folder = TemporaryFolder()
            let settings = folder.write(Array("[output]\ninterrupted-by = librespot\n".utf8), "n.conf")
            let daemon = await RealDaemon.start(server, sink: "dac", in: folder, ["--config", settings])
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(folder.silence("a.wav", seconds: 6000))])
            var last = client.event("play")
            #expect(last["output"]?["name"] == "dac")
            // Deviation of the position after a while from the published one.
            func error() throws -> Double {
                let pause = try #require(client.call("pause"))
                for event in client.takeNotifications() where event.words == "drift" { last = event }
                let error = pause.elapsed - last.position(at: pause["anchor"]?["monotonic"]?.doubleValue ?? 0)
                #expect(client.call("play")?.playing == "playing")
                last = client.event("play")
                return error
            }
            var errors: [Double] = []
            let times = Campaign.times(1, long: 20)
            for _ in 0..<times {
                let suspended = now()
                server.control("suspend-sink", "dac", "1")
                await LoopThread.wait(seconds: 0.3)
                server.control("suspend-sink", "dac", "0")
                let longest = now() - suspended
                errors.append(try error())
                // PipeWire announces no suspension: the sink may have stood for any part of it.
                #expect((-longest - 0.1...0.1).contains(errors.last ?? 1), "\(errors), at most \(longest) s")
                #expect(client.call("nowPlaying.get")?.playing == "playing")
            }
            Campaign.report(
                "PipeWire's sink suspended and woken", times,
                "published position off the clock before: \(Campaign.range(errors.map { $0 * 1000 })) ms")
            errors = []
            let input = String(server.control("list", "short", "sink-inputs").prefix { $0.isNumber })
            var numbers: [String: String] = [:]
            for line in server.control("list", "short", "sinks").split(separator: "\n") {
                let words = line.split(separator: "\t").map(String.init)
                numbers[words[1]] = words[0]
            }
            for round in 0..<times {
                let sink = round % 2 == 0 ? "other" : "dac"
                // A request during the previous one is lost without an error.
                var looks = 0
                let isMoved = becomes {
                    if looks % 100 == 0 { server.control("move-sink-input", input, sink) }
                    looks += 1
                    let place = server.control("list", "short", "sink-inputs").split(separator: "\t").dropFirst().first
                    return place.map(String.init) == numbers[sink]
                }
                #expect(isMoved, "to \(sink), round \(round)")
                let route = client.event("route")
                #expect(route["output"]?["name"] == .string(sink) && route["route"]?["to"] == .string(sink))
                #expect(route["route"]?["reason"] == "moved" && route.playing == "playing")
                errors.append(route.elapsed - last.position(at: route.monotonic))
                last = route
            }
            #expect(errors.allSatisfy { abs($0) < 0.1 }, "\(errors)")
            Campaign.report(
                "PipeWire's stream moved to a sink of another rate", times,
                "published position off the clock before: \(Campaign.range(errors.map { $0 * 1000 })) ms")
            let sink = last["output"]?["name"]?.stringValue ?? ""
            let words = ["pacat", "--server=\(server.address)", "--raw", "--device=\(sink)", "/dev/zero"]
            let other = await LoopThread.run { TestProcess(words + ["--property=application.name=librespot"]) }
            let began = client.event("interruption-began")
            #expect(began.playing == "interrupted" && began["interruption"]?["by"] == "librespot")
            other.signal(SIGKILL)
            let ended = client.event("interruption-ended")
            #expect(ended.playing == "playing" && abs(ended.elapsed - began.elapsed) < 0.15)
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("all of PipeWire goes at once and comes back", .enabled(if: Campaign.isLong, "part of make faults"))
        func whole() async throws {
            let server = await SoundServer.pipeWire(sink: "sink")
            let daemon = await RealDaemon.start(server)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let file = daemon.folder.silence("a.wav", seconds: 6000)
            #expect(client.call("play", ["uri": .string(file)])?.playing == "playing")
            _ = client.event("play")
            var errors: [Double] = []
            for _ in 0..<Campaign.times(1, long: 5) {
                server.killAll()
                let stall = client.event("stall")
                #expect(stall.rate == 0)
                await server.startPipeWire(sink: "sink")
                let back = client.event("unstall")
                #expect(back.playing == "playing" && back["output"]?["name"] == "sink")
                errors.append(back.elapsed - stall.elapsed)
            }
            #expect(errors.allSatisfy { abs($0) < 0.1 }, "\(errors)")
            Campaign.report(
                "all of PipeWire killed and started again", errors.count,
                "went on off where it stalled: \(Campaign.range(errors.map { $0 * 1000 })) ms")
            #expect(daemon.stop() == 0)
            server.stop()
        }
    }
}

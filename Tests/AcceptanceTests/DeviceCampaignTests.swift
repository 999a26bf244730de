import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Devices that are suspended, unloaded and changed, many times over.
    @Suite(.timeLimit(.minutes(20))) struct DeviceCampaignTests {
        @Test("a device that falls asleep: recorded, no frame is lost or heard twice")
        func suspended() async throws {
            let place = await RecordedSink.start(TestSink("sleeper"))
            let client = place.follow()
            let rounds = Campaign.times(1, long: 50)
            let file = place.daemon.folder.codeFLAC("code.flac", from: 0, count: 44100 * (rounds + 10))
            client.call("play", ["uri": .string(file)])
            for _ in 0..<rounds {
                await place.recorder.waitFor(more: 0.3)
                place.server.control("suspend-sink", "sleeper", "1")
                let stall = client.event("stall")
                #expect(stall["stall"]?["reason"] == "suspended")
                let woken = now()
                place.server.control("suspend-sink", "sleeper", "0")
                let back = client.event("unstall")
                #expect(back.elapsed > stall.elapsed - 0.03, "\(stall.elapsed) \(back.elapsed)")
                #expect(back.elapsed - stall.elapsed <= back.monotonic - woken, "\(stall) \(back)")
            }
            let runs = await place.runs()
            // The recorder gets the 5 ms in the device before they are audible.
            let lost = zip(runs, runs.dropFirst()).map { $1.frame - $0.frame - $0.count }
            #expect(lost.allSatisfy { abs($0) < 882 }, "\(lost)")
            #expect(lost.count == rounds, "\(runs)")
            Campaign.report(
                "sink suspended and woken, recorded", rounds,
                "lost (heard twice: negative) \(Campaign.range(lost.map { Double($0) / 44.1 })) ms, on a device of 5 ms"
            )
        }

        @Test("a device that is unloaded and loaded, and one that is changed for another: the position goes on")
        func unloadedAndMoved() async throws {
            LoopThread.start()
            let server = await SoundServer.pulseAudio([TestSink("other", rate: 48000, rewinds: true)])
            var module = server.load(TestSink("dac"))
            let daemon = await RealDaemon.start(server, sink: "dac")
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let file = daemon.folder.silence("a.wav", seconds: 6000)
            client.call("play", ["uri": .string(file)])
            var last = client.event("play")
            var errors: [Double] = []
            let unloads = Campaign.times(2, long: 50)
            for _ in 0..<unloads {
                server.control("unload-module", module)
                let stall = client.event("stall")
                #expect(stall["stall"]?["reason"] == "noOutput")
                errors.append(stall.elapsed - last.position(at: stall.monotonic))
                let loaded = now()
                module = server.load(TestSink("dac"))
                last = client.event("unstall")
                #expect(last["output"]?["name"] == "dac")
                #expect(last.elapsed > stall.elapsed - 0.05)
                #expect(last.elapsed - stall.elapsed <= last.monotonic - loaded, "\(stall) \(last)")
            }
            Campaign.report(
                "sink unloaded and loaded (wait)", unloads,
                "published position off the clock before: \(Campaign.range(errors.map { $0 * 1000 })) ms")
            errors = []
            let input = String(server.control("list", "short", "sink-inputs").prefix { $0.isNumber })
            let moves = Campaign.times(2, long: 50)
            for round in 0..<moves {
                server.control("move-sink-input", input, round % 2 == 0 ? "other" : "dac")
                let route = client.event("route")
                #expect(route["output"]?["name"] == (round % 2 == 0 ? "other" : "dac"))
                errors.append(route.elapsed - last.position(at: route.monotonic))
                last = route
            }
            #expect(errors.allSatisfy { abs($0) < 0.06 }, "\(errors)")
            Campaign.report(
                "stream moved to a sink of other rate and latency", moves,
                "published position off the clock before: \(Campaign.range(errors.map { $0 * 1000 })) ms")
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("a stream that is moved between devices and back, both recorded: no frame is lost or heard twice")
        func moved() async throws {
            LoopThread.start()
            let sinks = [TestSink("one"), TestSink("two")]
            let server = await SoundServer.pulseAudio(sinks)
            let daemon = await RealDaemon.start(server, sink: "one")
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            async let first = Recorder.start(server, sinks[0])
            async let second = Recorder.start(server, sinks[1])
            let recorders = await [first, second]
            let moves = Campaign.times(2, long: 50)
            let file = daemon.folder.codeFLAC("code.flac", from: 0, count: 44100 * (moves + 10))
            client.call("play", ["uri": .string(file)])
            _ = client.event("play")
            let input = String(server.control("list", "short", "sink-inputs").prefix { $0.isNumber })
            for move in 0..<moves {
                await recorders[move % 2].waitFor(more: 0.4)
                server.control("move-sink-input", input, sinks[(move + 1) % 2].name)
                #expect(client.event("route")["output"]?["name"] == .string(sinks[(move + 1) % 2].name))
            }
            await recorders[moves % 2].waitFor(more: 0.4)
            #expect(client.call("stop")?.playing == "stopped")
            await recorders[moves % 2].waitFor(more: 0.2)
            var runs: [(sink: Int, run: PositionCode.Run)] = []
            for (sink, recorder) in recorders.enumerated() {
                recorder.stop()
                runs += await recorder.runs().map { (sink, $0) }
            }
            runs.sort { $0.run.frame < $1.run.frame }
            let lost = zip(runs, runs.dropFirst()).map { $1.run.frame - $0.run.frame - $0.run.count }
            #expect(zip(runs, runs.dropFirst()).allSatisfy { $0.sink != $1.sink } && lost.count == moves, "\(runs)")
            // A recorder gets the frames in a device before they are audible.
            #expect(lost.allSatisfy { abs($0) < 882 }, "\(lost)")
            Campaign.report(
                "stream moved between two sinks, both recorded", moves,
                "lost (heard twice: negative) \(Campaign.range(lost.map { Double($0) / 44.1 })) ms, on devices of 5 ms")
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test(
            "a device that is unloaded and loaded, recorded: what would have been heard next is heard next",
            .enabled(if: Campaign.isLong, "part of make faults"))
        func unloaded() async throws {
            LoopThread.start()
            let server = await SoundServer.pulseAudio([TestSink("other")])
            let sink = TestSink("dac")
            var module = server.load(sink)
            let daemon = await RealDaemon.start(server, sink: "dac")
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            var recorder = await Recorder.start(server, sink)
            client.call("play", ["uri": .string(daemon.folder.codeFLAC("code.flac", from: 0, count: 44100 * 300))])
            _ = client.event("play")
            var (lost, skipped): ([Double], [Int]) = ([], [])
            for round in 0..<Campaign.times(1, long: 50) {
                await recorder.waitFor(more: 0.6 + 0.37 * Double(round % 7))
                server.control("unload-module", module)
                let stall = client.event("stall")
                recorder.stop()
                let before = try #require(await recorder.runs().last, "nothing was recorded")
                // The daemon is stopped until the recorder runs, so it gets no earlier report of the device.
                daemon.process.signal(SIGSTOP)
                module = server.load(sink)
                recorder = await Recorder.start(server, sink)
                daemon.process.signal(SIGCONT)
                #expect(client.event("unstall").playing == "playing")
                await recorder.waitFor(more: 0.3)
                let first = try #require(await recorder.runs().first, "nothing was recorded after").frame
                lost.append(Double(first - before.frame - before.count) / 44.1)
                skipped.append(first - Int((stall.elapsed * 44100).rounded()))
            }
            #expect(lost.allSatisfy { abs($0) < 20 } && skipped.allSatisfy { $0 == 0 }, "\(lost) \(skipped)")
            Campaign.report(
                "sink unloaded and loaded (wait), recorded", lost.count,
                "first frame after − frame of the stall: \(skipped.min()!) … \(skipped.max()!); lost (heard twice: "
                    + "negative) \(Campaign.range(lost)) ms, on a device of 5 ms")
            recorder.stop()
            #expect(daemon.stop() == 0)
            server.stop()
        }
    }
}

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
                place.server.control("suspend-sink", "sleeper", "0")
                let back = client.event("unstall")
                #expect(abs(back.elapsed - stall.elapsed) < 0.03, "\(stall.elapsed) \(back.elapsed)")
            }
            let runs = await place.runs()
            // What the device had taken, 5 ms, was told to the recorder and is heard only after.
            let lost = zip(runs, runs.dropFirst()).map { $1.frame - $0.frame - $0.count }
            #expect(lost.allSatisfy { abs($0) < 441 }, "\(lost)")
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
                module = server.load(TestSink("dac"))
                last = client.event("unstall")
                #expect(last["output"]?["name"] == "dac")
                #expect(abs(last.elapsed - stall.elapsed) < 0.05)
            }
            Campaign.report(
                "sink unloaded and loaded (wait)", unloads,
                "position told off the clock before: \(Campaign.range(errors.map { $0 * 1000 })) ms")
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
                "position told off the clock before: \(Campaign.range(errors.map { $0 * 1000 })) ms")
            #expect(daemon.stop() == 0)
            server.stop()
        }
    }
}

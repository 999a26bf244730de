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
            // Told no better than to one or two of its quanta of 43 ms.
            #expect(errors.allSatisfy { abs($0) < 0.1 }, "\(errors)")
            Campaign.report(
                "PipeWire's server killed", kills,
                "position told off the clock before: \(Campaign.range(errors.map { $0 * 1000 })) ms")
            for _ in 0..<Campaign.times(1, long: 10) {
                server.process.signal(SIGSTOP)
                #expect(client.call("changePlaybackPosition", ["position": 100])?.playing == "stalled")
                #expect(client.event("stall")["stall"]?["reason"] == "serverHung")
                server.process.signal(SIGCONT)
                last = client.event("unstall")
                #expect(last.playing == "playing" && abs(last.elapsed - 100) < 0.2, "\(last)")
            }
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
            for _ in 0..<Campaign.times(1, long: 20) {
                server.control("unload-module", module)
                let stall = client.event("stall")
                #expect(stall["stall"]?["reason"] == "noOutput" && stall.rate == 0)
                #expect(abs(stall.elapsed - last.position(at: stall.monotonic)) < 0.15)
                module = server.load(sink)
                last = client.event("unstall")
                #expect(last.playing == "playing" && abs(last.elapsed - stall.elapsed) < 0.15)
                #expect(last["output"]?["name"] == "dac")
            }
            #expect(daemon.stop() == 0)
            server.stop()
        }
    }
}

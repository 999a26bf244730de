import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Nothing ticks.
    @Suite(.timeLimit(.minutes(2))) struct WakeupTests {
        @Test("paused, stopped and fresh daemons never wake; a playing one rarely")
        func wakeups() async throws {
            let server = await SharedServer.pulseAudio.value
            let sinks = (0..<3).map { TestSink("wakeups\($0)", rewinds: true) }
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
            // What a null sink has rendered before, up to 2 s of silence, it does not take back for a short latency.
            usleep(2_500_000)
            var daemons: [RealDaemon] = []
            for index in 0..<5 { daemons.append(await RealDaemon.start(server, sink: sinks[min(index, 2)].name)) }
            for (index, daemon) in daemons.enumerated() where index < 4 {
                let client = daemon.connect()
                let file = daemon.folder.silence("a.wav", seconds: 600, rate: 44100, channels: 2)
                client.call("nowPlaying.subscribe")
                let answer = client.call("play", ["uri": .string(file)])
                #expect(answer?.playing == "playing", "\(index): \(client.notifications)")
                if index == 2 { client.call("pause") }
                if index == 3 { client.call("stop") }
            }
            // Until the buffers are full, which takes a few refills, and the connections are closed.
            usleep(8_500_000)
            let before = daemons.map(\.contextSwitches)
            usleep(10_000_000)
            let counts = zip(daemons, before).map { $0.contextSwitches - $1 }
            // A few for each refill; how many is measured by the benchmark, on a quiet machine. A tick would be hundreds.
            #expect(counts[0] <= 40, "playing: \(counts[0]) in 10 s")
            #expect(counts[1] <= 40, "playing beside another client: \(counts[1]) in 10 s")
            #expect(counts[2] == 0, "paused: \(counts[2]) in 10 s")
            #expect(counts[3] == 0, "stopped: \(counts[3]) in 10 s")
            #expect(counts[4] == 0, "fresh: \(counts[4]) in 10 s")
            print("voluntary switches in 10 s, playing, beside another, paused, stopped, fresh: \(counts)")
        }
    }
}

import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// The process, and the host's clock, that stand still or jump.
    @Suite(.timeLimit(.minutes(5))) struct SuspensionTests {
        init() { LoopThread.start() }

        /// A file of which the server's queue holds no more than a second and a half.
        private func play(_ daemon: RealDaemon, _ client: Client) -> JSONValue {
            client.call("nowPlaying.subscribe")
            let file = daemon.folder.silence("a.wav", seconds: 60, rate: 192_000, channels: 8)
            #expect(client.call("play", ["uri": .string(file)])?.playing == "playing")
            return client.event("play")
        }

        @Test("stopped for longer than the server's queue lasts, it publishes its position with one event")
        func stopped() async throws {
            let server = await SoundServer.pulseAudio([TestSink("sink")])
            let daemon = await RealDaemon.start(server, readsTitles: false)
            let client = daemon.connect()
            _ = play(daemon, client)
            let stops = Campaign.times(1, long: 10)
            for _ in 0..<stops {
                await LoopThread.wait(seconds: 0.5)
                client.call("nowPlaying.get")
                _ = client.takeNotifications()
                daemon.process.signal(SIGSTOP)
                await LoopThread.wait(seconds: Campaign.isLong ? 2 : 1.6)
                daemon.process.signal(SIGCONT)
                let state = client.event()
                #expect(state.playing == "playing" && state.rate == 1, "\(state)")
                // The answer of a command has the real position: the published one was right.
                let pause = try #require(client.call("pause"))
                let error = pause.elapsed - state.position(at: pause["anchor"]?["monotonic"]?.doubleValue ?? 0)
                #expect(abs(error) < 0.05, "\(error)")
                #expect(client.events() == ["pause"])
                #expect(client.call("play")?.playing == "playing")
            }
            Campaign.report("the daemon stopped and continued (SIGSTOP)", stops, "one event, true to 50 ms, each time")
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test(
            "daemon and sound server stand still and the clock is set, as when a host sleeps: true again with one event"
        )
        func hostSleeps() async throws {
            let server = await SoundServer.pulseAudio([TestSink("sink")])
            let daemon = await RealDaemon.start(server, readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let file = daemon.folder.silence("a.wav", seconds: 6000)
            #expect(client.call("play", ["uri": .string(file)])?.playing == "playing")
            var state = client.event("play")
            var errors: [Double] = []
            let setsClock = Campaign.isLong && HostClock.maySet
            for _ in 0..<Campaign.times(1, long: 10) {
                await LoopThread.wait(seconds: 0.3)
                _ = client.takeNotifications()
                for process in [daemon.process, server.process] { process.signal(SIGSTOP) }
                await LoopThread.wait(seconds: Campaign.isLong ? 3 : 0.5)
                server.process.signal(SIGCONT)
                // Until the server has caught up with its clock, which goes on here though the host is meant to sleep.
                server.control("list", "sink-inputs")
                await LoopThread.wait(seconds: 0.3)
                // The kernel reports a wake-up like a clock that was set.
                if setsClock { HostClock.step(by: 0) }
                daemon.process.signal(SIGCONT)
                if setsClock { state = client.event("clock-step") }
                let pause = try #require(client.call("pause"))
                client.call("nowPlaying.get")
                let events = client.takeNotifications()
                #expect(events.map(\.words).filter { $0 != "drift" } == ["pause"])
                state = events.last { $0.words == "drift" } ?? state
                errors.append(pause.elapsed - state.position(at: pause["anchor"]?["monotonic"]?.doubleValue ?? 0))
                #expect(client.call("play")?.playing == "playing")
                state = client.event("play")
            }
            #expect(errors.allSatisfy { abs($0) < 0.05 }, "\(errors)")
            Campaign.report(
                "daemon and sound server stopped for 3 s, the clock set, both continued (a host that sleeps)",
                errors.count, "one event each; its position off by \(Campaign.range(errors.map { $0 * 1000 })) ms")
            #expect(daemon.stop() == 0)
            server.stop()
        }
    }
}

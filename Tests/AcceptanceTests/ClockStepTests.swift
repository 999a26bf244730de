import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// The wall clock is set, as on a machine without a clock battery when it finds its time server. `make test` sets it to its
    /// present time; `make faults` sets a wrong time for some milliseconds.
    @Suite(.timeLimit(.minutes(5)), .enabled(if: HostClock.maySet, "needs root, to set the clock"))
    struct ClockStepTests {
        init() { LoopThread.start() }

        /// Steps of the clock in seconds; the test undoes each.
        private static let steps = Campaign.isLong ? [0, 2, -2, 3600, -3600, 86_400, -200_000_000] : [0]

        /// Errors of an event after a step, in seconds: of the position, and of the wall clock.
        private func errors(_ event: JSONValue, _ before: JSONValue) -> (position: Double, wall: Double) {
            let wall = event["anchor"]?["wall"]?.doubleValue ?? 0
            let isMoving = before.rate != 0
            let expected = isMoving ? before.position(at: event.monotonic) : before.elapsed
            return (event.elapsed - expected, wall - (HostClock.now + event.monotonic - now()))
        }

        @Test("the wall clock is set: one event, the same position, the new wall time")
        func stepped() async throws {
            let server = await SoundServer.pulseAudio([TestSink("sink")])
            let daemon = await RealDaemon.start(server, readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let file = daemon.folder.silence("a.wav", seconds: 6000)
            client.call("play", ["uri": .string(file)])
            var last = client.event("play")
            var (positions, walls): ([Double], [Double]) = ([], [])
            for isPaused in [false, true] {
                if isPaused {
                    client.call("pause")
                    last = client.event("pause")
                }
                for step in Self.steps.flatMap({ [$0, -$0] }) {
                    HostClock.step(by: step)
                    let event = client.event("clock-step")
                    let (position, wall) = errors(event, last)
                    #expect(abs(position) < 0.03 && abs(wall) < 0.001, "\(step): \(position), \(wall)")
                    #expect(event.rate == last.rate)
                    // A time before 2025 means that the clock was never set.
                    let isSet = event["anchor"]?["wallSynced"]?.boolValue
                    #expect(isSet == (HostClock.now > 1_735_689_600), "\(step)")
                    positions.append(position)
                    walls.append(wall)
                    last = event
                }
            }
            #expect(client.events() == [])
            Campaign.report(
                "the wall clock set, by up to six years, and set back", positions.count,
                "one event each; position off by \(Campaign.range(positions.map { $0 * 1000 })) ms, wall time by "
                    + "\(Campaign.range(walls.map { $0 * 1000 })) ms")
            #expect(daemon.stop() == 0)
            server.stop()
        }
    }
}

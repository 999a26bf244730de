import NowPlaying
import TestSupport
import Testing

@testable import MixedOutput

/// The clock of another machine, by readings over a network.
@Suite struct ServerClockTests {
    private func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    @Test("one reading says the lead, and grows old") func single() throws {
        var clock = ServerClock()
        #expect(clock.lead(at: at(5)) == nil)
        clock.add(ServerClock.Reading(time: at(100), lead: 7000, error: 0.0003))
        let (now, later) = (try #require(clock.lead(at: at(100))), try #require(clock.lead(at: at(110))))
        #expect(now.lead == 7000 && now.error == 0.0003 && clock.skew == 0)
        #expect(later.lead == 7000 && abs(later.error - 0.0023) < 1e-9)
    }

    @Test(
        "lead and rate are as near as they say, for any rate and network",
        arguments: [0, 1e-6, -2e-5, 1e-4, -2e-4], [0.0001, 0.0005, 0.003, 0.02])
    func drawn(_ skew: Double, _ trip: Double) throws {
        for seed in 1...20 {
            var random = SeededRandom(seed: UInt64(seed))
            var clock = ServerClock()
            var (time, pause) = (1000.0, 1.0)
            for _ in 0..<200 {
                // Each way takes between nothing and a trip: half of both is the error.
                let (there, back) = (
                    Double.random(in: 0...trip, using: &random), Double.random(in: 0...trip, using: &random)
                )
                let lead = 5000 + skew * (time - 1000) + (there - back) / 2
                clock.add(ServerClock.Reading(time: at(time), lead: lead, error: (there + back) / 2))
                #expect(abs(clock.skew - skew) <= clock.skewError + 1e-12)
                time += Double.random(in: 0...pause, using: &random)
                pause = min(16, 2 * pause)
                let found = try #require(clock.lead(at: at(time)))
                #expect(abs(found.lead - 5000 - skew * (time - 1000)) <= found.error + 1e-6)
            }
            // Half an hour of readings.
            #expect(trip > 0.003 || clock.skewError < 0.00001, "\(clock.skewError)")
        }
    }

    @Test("a machine that was started again has another clock") func another() throws {
        var clock = ServerClock()
        for second in 0..<100 {
            clock.add(ServerClock.Reading(time: at(Double(second)), lead: 50 + 1e-4 * Double(second), error: 0.0001))
        }
        #expect(abs(clock.skew - 1e-4) <= clock.skewError)
        clock.add(ServerClock.Reading(time: at(200), lead: -190, error: 0.001))
        let found = try #require(clock.lead(at: at(200)))
        #expect(found.lead == -190 && found.error == 0.001 && clock.skew == 0)
    }
}

import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PlaybackEngine

/// Readings of devices that play evenly, lose blocks, or stop for a while.
@Suite struct EvennessTests {
    private static let rate = 44100.0

    init() { LoopThread.start() }

    private static func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    /// An instant, and seconds by which the sound is behind then.
    private typealias Reading = (at: Double, behind: Double)

    /// A clock that has these readings.
    private static func clock(_ readings: [Reading], inSteps: Bool = false) -> DeviceClock {
        var clock = DeviceClock(sampleRate: 44100)
        for reading in readings {
            clock.note(frame: (reading.at - reading.behind) * rate, at: at(reading.at), inSteps: inSteps)
        }
        return clock
    }

    /// Readings of a refill every three seconds for half a minute.
    private static let refills: [Reading] = stride(from: 0.0, through: 30, by: 3).map { ($0, 0) }

    @Test("a device that plays evenly is never watched, whatever its skew", arguments: -20...20)
    func even(_ step: Int) {
        let skew = Double(step) / 10_000
        let clock = Self.clock(Self.refills.map { ($0.at, $0.at * skew) })
        #expect(clock.evenness == Evenness())
        #expect(!clock.evenness.isUnsteady(at: Self.at(31)))
    }

    @Test("a block that is lost or inserted is seen at the first reading", arguments: [0.005, -0.005, 0.02, -0.1])
    func firstReading(_ size: Double) {
        let clock = Self.clock(Self.refills + [(33, size)])
        #expect(clock.evenness.state == .doubtful(agreeing: 0))
        #expect(clock.evenness.jumps == 1 && clock.evenness.loss == 0)
        // The line begins anew there.
        #expect(abs((clock.frame(at: Self.at(33)) ?? 0) - (33 - size) * Self.rate) < 1)
    }

    @Test("three readings that agree end the doubt")
    func agreement() {
        let once: [Reading] = Self.refills + [(33, 0.005), (33.5, 0.005), (34, 0.005)]
        #expect(Self.clock(once).evenness.state == .doubtful(agreeing: 2))
        let clock = Self.clock(once + [(34.5, 0.0051)])
        #expect(clock.evenness.state == .even)
        #expect(clock.evenness.isUnsteady(at: Self.at(90)) && !clock.evenness.isUnsteady(at: Self.at(93.1)))
    }

    @Test("readings in a burst do not count as three")
    func burst() {
        let clock = Self.clock(Self.refills + [(33, 0.005), (33.01, 0.005), (33.02, 0.005), (33.03, 0.005)])
        #expect(clock.evenness.state == .doubtful(agreeing: 0))
    }

    @Test("the average loss is part of the skew, until twelve readings agree")
    func loss() {
        // 5 ms in each second, seen at every other reading.
        let losing = (0...20).map { (number: Int) -> Reading in
            (33 + Double(number) / 2, 0.015 + Double(number / 2) * 0.005)
        }
        let uneven = Self.clock(Self.refills + losing)
        #expect(uneven.evenness.state == .uneven(agreeing: 0))
        #expect(abs(uneven.skew + 0.005) < 0.0005, "\(uneven.skew)")
        let even = (1...12).map { (number: Int) -> Reading in (43 + Double(number) / 2, 0.065) }
        #expect(Self.clock(Self.refills + losing + even.dropLast()).evenness.state == .uneven(agreeing: 11))
        let clock = Self.clock(Self.refills + losing + even)
        #expect(clock.evenness.state == .even && clock.evenness.loss == 0 && abs(clock.skew) < 1e-5)
    }

    @Test("losses in bursts are no part of the skew, and the position is that of the last reading")
    func bursts() {
        // Two bursts of a second, 150 ms each, in ten seconds.
        let bursts = (0...20).map { (number: Int) -> Reading in
            let burst = [4, 5, 12, 13].filter { $0 <= number }.count
            return (33 + Double(number) / 2, 0.015 + Double(burst) * 0.075)
        }
        for end in 14...20 {
            let clock = Self.clock(Self.refills + bursts.prefix(end + 1))
            #expect(clock.evenness.state == .uneven(agreeing: end - 13), "\(end)")
            #expect(clock.evenness.loss == 0 && abs(clock.skew) < 1e-5, "\(end): \(clock.skew)")
            let last = bursts[end]
            let frame = clock.averageFrame(at: Self.at(last.at)) ?? 0
            #expect(abs(frame - (last.at - last.behind) * Self.rate) < 1, "\(end): \(frame)")
        }
    }

    @Test("a flow that was interrupted begins a new line without a doubt", arguments: [0.3, 4])
    func interruption(_ seconds: Double) {
        let clock = Self.clock(Self.refills + [(40, seconds)])
        #expect(clock.evenness.state == .even && clock.evenness.jumps == 0)
        #expect(abs((clock.frame(at: Self.at(40)) ?? 0) - (40 - seconds) * Self.rate) < 1)
    }

    @Test("the first readings of a server that plays in steps may be off by one")
    func steps() {
        #expect(Self.clock([(0, 0.03), (3, 0), (6, 0)], inSteps: true).evenness.jumps == 0)
        #expect(Self.clock(Self.refills + [(33, 0.046)], inSteps: true).evenness.jumps == 1)
        #expect(Self.clock(Self.refills + [(33, 0.004)], inSteps: true).evenness.jumps == 0)
    }

    @Test("readings of a server that works in steps are lower bounds, and the highest is right")
    func lowerBounds() {
        var clock = DeviceClock(sampleRate: 44100)
        func note(_ seconds: Double, behind: Double, isPrompt: Bool) {
            clock.note(step: (seconds - behind) * Self.rate, at: Self.at(seconds), isPrompt: isPrompt)
        }
        func behind(_ seconds: Double) -> Double { seconds - (clock.frame(at: Self.at(seconds)) ?? 0) / Self.rate }
        // The report of the first step is late.
        note(0, behind: 0.016, isPrompt: true)
        note(0.3, behind: 0.03, isPrompt: false)
        #expect(abs(behind(1) - 0.016) < 1e-6)
        note(1, behind: 0, isPrompt: false)
        #expect(abs(behind(2)) < 1e-6)
        for second in stride(from: 3.0, through: 30, by: 3) {
            note(second, behind: 0, isPrompt: true)
            note(second + 1, behind: 0.042, isPrompt: false)
            note(second + 2, behind: 0.0004, isPrompt: true)
            // The line goes through the highest; the skew is that of all prompt ones.
            #expect(abs(behind(second + 2)) < 0.0004, "\(second)")
        }
        #expect(clock.evenness == Evenness() && abs(clock.skew) < 1e-4)
        // A block is lost, as the report of a step says.
        note(36, behind: 0.02, isPrompt: true)
        #expect(clock.evenness.jumps == 1 && abs(behind(36) - 0.02) < 1e-6)
        // Or that report was late.
        note(36.5, behind: 0, isPrompt: false)
        #expect(abs(behind(37)) < 0.0002)
    }
}

import NowPlaying
import Testing

@testable import MixedOutput

@Suite struct MixScheduleTests {
    private func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    private func begins(_ schedule: inout MixSchedule, _ time: MonotonicTime) {
        let isNew = schedule.begin(at: time)
        #expect(isNew)
    }

    @Test("frames are due one after the other from the beginning on") func beginning() {
        var schedule = MixSchedule(sampleRate: 48000)
        #expect(schedule.frame(at: at(5), from: 0) == 0 && schedule.time(of: 0) == nil)
        begins(&schedule, at(10))
        #expect(schedule.needed(at: at(10), lead: 0.2) == 9600)
        schedule.advance(by: 9600)
        #expect(schedule.needed(at: at(10), lead: 0.2) == 0)
        #expect(schedule.needed(at: at(10.1), lead: 0.2) == 4800)
        #expect(schedule.frame(at: at(10.1), from: 0) == 4800)
        #expect(schedule.frame(at: at(9.9), from: 0) == -4800)
        #expect(schedule.time(of: 9600) == at(10.2))
    }

    @Test("no frame is due that was not made, and a beginning that is late begins anew") func late() {
        var schedule = MixSchedule(sampleRate: 44100)
        _ = schedule.begin(at: at(1))
        schedule.advance(by: 4410)
        let isNew = schedule.begin(at: at(1.05))
        #expect(!isNew)
        let isPatient = !schedule.begin(at: at(1.15), patience: 0.06)
        #expect(isPatient)
        // The frames that are late are made up for.
        #expect(
            schedule.needed(at: at(1.15), lead: 0.1) == 4410 + 2205 && schedule.frame(at: at(1.15), from: 0) == 4410)
        #expect(schedule.frame(at: at(2), from: 0) == 4410)
        begins(&schedule, at(2))
        #expect(schedule.frame(at: at(2), from: 0) == 4410 && schedule.time(of: 8820) == at(2.1))
        schedule.advance(by: 4410)
        schedule.stop()
        #expect(schedule.frame(at: at(2), from: 0) == 8820)
        begins(&schedule, at(2.01))
    }

    @Test("after a new beginning the frames before it keep their time") func beginsAnew() {
        var schedule = MixSchedule(sampleRate: 48000)
        begins(&schedule, at(1))
        schedule.advance(by: 9600)
        // The next frame that gets a new time is that of the next chunk.
        let isLate = schedule.begin(at: at(1.5), from: 9600 + 480)
        #expect(isLate && schedule.time(of: 9600 + 480) == at(1.5))
        #expect(schedule.time(of: 9600) == at(1.2) && schedule.time(of: 0) == at(1))
        #expect(schedule.time(of: 9600 + 960) == at(1.51))
        let isEarly = !schedule.begin(at: at(1.4), from: 9600 + 480)
        #expect(isEarly)
        // The time of a start can be corrected; earlier times stay.
        schedule.restart(at: at(1.6), from: 9600 + 480)
        #expect(schedule.time(of: 9600 + 480) == at(1.6) && schedule.time(of: 9600) == at(1.2))
    }

    @Test("in days, no nanosecond is lost", arguments: [8000, 44100, 48000, 96000, 192_000]) func days(_ rate: Int) {
        var schedule = MixSchedule(sampleRate: rate)
        _ = schedule.begin(at: at(3))
        var made = 0
        // Blocks of an odd length, for five days.
        let block = 7 * rate / 5
        while made < 5 * 86400 * rate {
            schedule.advance(by: block)
            made += block
        }
        let whole = Int64(made / rate)
        let part = (Double(made % rate) / Double(rate) * 1e9).rounded()
        #expect(schedule.end == Int64(made))
        let due = schedule.time(of: schedule.end)
        #expect(due == MonotonicTime(nanoseconds: 3_000_000_000 + whole * 1_000_000_000 + Int64(part)))
        #expect(
            abs(schedule.frame(at: due!.advanced(bySeconds: -0.5), from: 0) - Double(made) + Double(rate) / 2) < 0.001)
    }

    @Test("a rate of another clock holds from now on, without a step of the time") func rate() throws {
        var schedule = MixSchedule(sampleRate: 48000)
        begins(&schedule, at(1))
        schedule.advance(by: 480_000)
        let before = schedule.due(at: at(5))
        schedule.turn(0.0001, at: at(5))
        #expect(abs(schedule.due(at: at(5)) - before) < 0.001 && schedule.skew == 0.0001)
        #expect(abs(schedule.due(at: at(6)) - before - 48004.8) < 0.001)
        #expect(schedule.time(of: 48000) == at(2))
        let due = try #require(schedule.time(of: 240_000))
        #expect(abs(due.seconds(since: at(1 + 4 + 1 / 1.0001))) < 1e-6)
        #expect(abs(schedule.frame(at: due, from: 0) - 240_000) < 0.001)
        // A new beginning keeps the rate, and so do hours.
        schedule.restart(at: at(20), from: 480_000)
        for _ in 0..<40 { schedule.advance(by: 48000 * 1000) }
        let end = try #require(schedule.time(of: schedule.end))
        #expect(abs(end.seconds(since: at(20 + 40_000 / 1.0001))) < 1e-4)
        schedule.correct(at: end.advanced(bySeconds: 0.5), of: schedule.end)
        #expect(schedule.time(of: schedule.end)?.seconds(since: end) == 0.5)
    }
}

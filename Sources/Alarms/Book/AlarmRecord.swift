import NowPlaying

/// Dates of an alarm that are settled. A pure value.
///
/// A date is settled when its time has come: the alarm rang, or was missed. A clock that is set back before a date
/// makes the date pending again, unless the alarm rang on it.
package struct AlarmRecord: Hashable, Sendable {
    /// The latest date whose time had come at the last look at the clock; nil: none had.
    package private(set) var passed: CivilDate?
    /// The last dates on which it rang, the newest at the end.
    package private(set) var rung: [CivilDate]
    /// The last date on which it should have rung and did not, since it rang; nil: none.
    package private(set) var missed: CivilDate?

    /// Number of dates on which it rang that are kept: a clock can be set back by this many.
    package static let memory = 8
    /// Seconds after its time in which an alarm still rings.
    package static let patience: Int64 = 600

    /// Result of a look at the clock.
    enum Outcome: Hashable {
        case nothing
        /// It rings now.
        case due(AlarmMoment)
        /// Its time has come, and it is too late.
        case missed(AlarmMoment)
    }

    /// The record of an alarm that is set or switched on at the instant `now`: all dates until then are settled.
    init(_ schedule: AlarmSchedule, now: Int64, in zone: ZoneRules) {
        self.init(passed: schedule.last(until: now, in: zone)?.date, rung: [], missed: nil)
    }

    /// A record of an earlier run.
    package init(passed: CivilDate?, rung: [CivilDate], missed: CivilDate?) {
        self.passed = passed
        self.rung = Array(rung.suffix(Self.memory))
        self.missed = missed
    }

    /// Looks at the clock, which stands at the instant `now`: after a wake-up, a step of the clock, a change of the
    /// zone, and a start.
    mutating func take(_ schedule: AlarmSchedule, now: Int64, in zone: ZoneRules) -> Outcome {
        let last = schedule.last(until: now, in: zone)
        let before = passed
        passed = last?.date
        if let missed, last.map({ $0.date < missed }) ?? true { self.missed = nil }
        guard let last, before.map({ $0 < last.date }) ?? true, !rung.contains(last.date) else { return .nothing }
        guard now.subtractingClamped(last.instant) <= Self.patience else {
            missed = last.date
            return .missed(last)
        }
        rung = Array((rung + [last.date]).suffix(Self.memory))
        missed = nil
        return .due(last)
    }

    /// Notes that it stopped to ring without anybody who heard it.
    mutating func miss(_ date: CivilDate) { missed = date }

    /// Notes that somebody has seen that it was missed.
    mutating func acknowledge() { missed = nil }

    /// True if a schedule has no date left.
    func isOver(_ schedule: AlarmSchedule) -> Bool {
        guard let date = schedule.days.onlyDate else { return false }
        return rung.contains(date) || passed.map { $0 >= date } ?? false
    }
}

/// The moments at which an alarm rings, for any zone. Pure; any thread. All instants are seconds since 1970, UTC.
package struct AlarmSchedule: Hashable, Sendable {
    package let time: TimeOfDay
    package let days: AlarmDays

    /// Days by which a local clock can have been ahead of its present date, at most, before it was put back.
    private static let jump: Int64 = 3

    /// A schedule of an earlier run.
    package init(_ time: TimeOfDay, _ days: AlarmDays) {
        self.time = time
        self.days = days
    }

    /// A schedule as a client requests it at the instant `now`. Throws `isOver` for a date whose time has come.
    package init(
        _ time: TimeOfDay, _ request: AlarmDaysRequest, now: Int64, in zone: ZoneRules
    ) throws(AlarmRefusal) {
        switch request {
        case .weekly(let days): self.init(time, .weekly(days))
        case .next: self.init(time, .next(Self.nextDate(time, now, zone)))
        case .date(let date):
            self.init(time, .date(date))
            if instant(on: date, in: zone) <= now { throw .isOver(LocalTime(date, time)) }
        }
    }

    /// The same schedule as somebody switches it on at the instant `now`. Throws `isOver` for a date whose time has come.
    func renewed(now: Int64, in zone: ZoneRules) throws(AlarmRefusal) -> AlarmSchedule {
        switch days {
        case .weekly(let days): try AlarmSchedule(time, .weekly(days), now: now, in: zone)
        case .date(let date): try AlarmSchedule(time, .date(date), now: now, in: zone)
        case .next: try AlarmSchedule(time, .next, now: now, in: zone)
        }
    }

    private static func nextDate(_ time: TimeOfDay, _ now: Int64, _ zone: ZoneRules) -> CivilDate {
        let daily = AlarmSchedule(time, .weekly(.daily))
        return daily.next(after: now, in: zone)?.date ?? zone.localTime(at: now).date
    }

    /// The instant of its time on a date. A time that does not exist is the jump of the clock over it, one that exists
    /// twice is the first of the two.
    package func instant(on date: CivilDate, in zone: ZoneRules) -> Int64 {
        zone.firstInstant(reading: LocalTime(date, time))
    }

    /// The latest of its dates whose time has come at the instant `now`; nil: there is none.
    package func last(until now: Int64, in zone: ZoneRules) -> AlarmMoment? {
        // Later dates never have earlier instants.
        dates(around: now, zone, -7...Self.jump).reversed().lazy.map { moment(on: $0, zone) }
            .first { $0.instant <= now }
    }

    /// The first of its moments after the instant `now` on a date that is not among `done`; nil: none follows.
    package func next(after now: Int64, in zone: ZoneRules, without done: [CivilDate] = []) -> AlarmMoment? {
        // Each date that is done may be one of the same weekday.
        dates(around: now, zone, 0...Self.jump + 7 * Int64(1 + done.count)).lazy
            .filter { !done.contains($0) }.map { moment(on: $0, zone) }.first { $0.instant > now }
    }

    private func moment(on date: CivilDate, _ zone: ZoneRules) -> AlarmMoment {
        AlarmMoment(date: date, instant: instant(on: date, in: zone))
    }

    private func dates(around now: Int64, _ zone: ZoneRules, _ days: ClosedRange<Int64>) -> [CivilDate] {
        switch self.days {
        case .date(let date), .next(let date): return [date]
        case .weekly(let weekdays):
            let today = zone.localTime(at: now).date
            return days.map { today.advanced(by: $0) }.filter { weekdays.contains($0) }
        }
    }
}

/// A date of an alarm and its instant.
package struct AlarmMoment: Hashable, Sendable {
    package let date: CivilDate
    /// Seconds since 1970, UTC.
    package let instant: Int64
}

import Testing

@testable import Alarms

/// The moments of alarms beside Python's zoneinfo.
@Suite struct AlarmScheduleTests {
    @Test("ten years of moments, one after the other", arguments: ZoneRulesTests.decades)
    func moments(_ zone: String, _ year: Int) throws {
        let rules = try ZoneOracle.rules(zone)
        let minutes = [0, 120, 150, 1439]
        let days = CivilDate(year, 1, 1).number..<CivilDate(year + 10, 1, 1).number
        let table = try ZoneOracle.instants(zone, days, minutes)
        for (index, minute) in minutes.enumerated() {
            for set in [.daily, .weekends, Weekdays(rawValue: 1 << 4)] as [Weekdays] {
                let schedule = AlarmSchedule(TimeOfDay(minutes: minute), .weekly(set))
                var now = table[0][index] - 1
                for (day, instants) in zip(days, table) where set.contains(CivilDate(number: day)) {
                    // Two dates can have the same instant if a day is skipped.
                    guard instants[index] > now else { continue }
                    let next = try #require(schedule.next(after: now, in: rules))
                    try #require(next.instant == instants[index] && next.date == CivilDate(number: day))
                    let before = schedule.last(until: next.instant - 1, in: rules)
                    try #require(before.map { $0.date < next.date && $0.instant < next.instant } ?? false)
                    now = next.instant
                    let last = try #require(schedule.last(until: now, in: rules))
                    try #require(last.instant == now && last.date >= next.date)
                }
            }
        }
    }

    @Test("the next time is the first after now, and a date has one time")
    func once() throws {
        let zone = try ZoneOracle.rules("Europe/Berlin")
        // 2026-11-29 18:30 there.
        let now = CivilDate(2026, 11, 29).number * 86_400 + 17 * 3600 + 1800
        func next(_ minute: Int) throws -> String {
            try AlarmSchedule(TimeOfDay(minutes: minute), .next, now: now, in: zone).days.text
        }
        #expect(
            try next(18 * 60 + 31) == "2026-11-29" && next(18 * 60 + 30) == "2026-11-30" && next(390) == "2026-11-30")
        let time = TimeOfDay(minutes: 18 * 60 + 30)
        let today = CivilDate(2026, 11, 29)
        #expect(throws: AlarmRefusal.isOver(LocalTime(today, time))) {
            try AlarmSchedule(time, .date(today), now: now, in: zone)
        }
        let later = try AlarmSchedule(time, .date(today), now: now - 1, in: zone)
        #expect(later.next(after: now - 1, in: zone) == AlarmMoment(date: today, instant: now))
        #expect(later.next(after: now, in: zone) == nil && later.last(until: now - 1, in: zone) == nil)
        #expect(later.last(until: 1 << 50, in: zone)?.date == today)
    }

    @Test("a request is days of the week, a date, or the next time")
    func requests() throws {
        #expect(try AlarmDaysRequest("mon-fri") == .weekly(.weekdays))
        #expect(try AlarmDaysRequest("2026-12-24") == .date(CivilDate(2026, 12, 24)))
        #expect(try AlarmDaysRequest("Next") == .next)
        let mistake = #expect(throws: TextMistake.self) { try AlarmDaysRequest("never") }
        #expect(mistake?.expected.contains("2026-12-24") == true && mistake?.expected.contains("mon-fri") == true)
        #expect(throws: TextMistake.self) { try AlarmDaysRequest("2026-12-32") }
    }

    @Test("a clock that is put back over midnight does not bring a date back")
    func overMidnight() throws {
        let zone = try ZoneOracle.rules("America/St_Johns")
        // At 00:01 on 2010-11-07, a Sunday, it was put back to 23:01.
        let sunday = CivilDate(2010, 11, 7)
        let midnight = sunday.number * 86_400 + 2 * 3600 + 1800
        #expect(zone.localTime(at: midnight).text == "2010-11-07 00:00")
        #expect(zone.localTime(at: midnight + 600).text == "2010-11-06 23:10")
        for days in [Weekdays(rawValue: 1 << 6), .daily] {
            let schedule = AlarmSchedule(TimeOfDay(minutes: 0), .weekly(days))
            #expect(schedule.next(after: midnight - 1, in: zone) == AlarmMoment(date: sunday, instant: midnight))
            for later in [0, 60, 600, 3660, 4000] as [Int64] {
                #expect(schedule.last(until: midnight + later, in: zone)?.date == sunday)
                let next = schedule.next(after: midnight + later, in: zone)?.date
                #expect(next == sunday.advanced(by: days == .daily ? 1 : 7))
            }
        }
    }

    @Test("any instant has its moments")
    func edges() throws {
        let berlin = try ZoneOracle.rules("Europe/Berlin")
        for instant in [.min, -1 << 41, -1, 1 << 41, .max] as [Int64] {
            for minute in [0, 150, 1439] {
                let daily = AlarmSchedule(TimeOfDay(minutes: minute), .weekly(.daily))
                let (last, next) = (daily.last(until: instant, in: berlin), daily.next(after: instant, in: berlin))
                #expect((last?.instant ?? .min) <= instant && (next?.instant ?? .max) >= instant)
            }
        }
    }

    @Test("dates on which it rang are left out, however many")
    func done() {
        let mondays = AlarmSchedule(TimeOfDay(minutes: 0), .weekly(Weekdays(rawValue: 1)))
        let first = CivilDate(2026, 11, 30)
        let done = (0..<8).map { first.advanced(by: 7 * Int64($0)) }
        let next = mondays.next(after: first.number * 86_400 - 1, in: .utc, without: done)
        #expect(next?.date == first.advanced(by: 56))
    }
}

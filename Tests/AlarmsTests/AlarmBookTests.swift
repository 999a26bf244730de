import Testing

@testable import Alarms

/// Alarms from their setting to their end, step by step.
@Suite struct AlarmBookTests {
    typealias Book = AlarmBook<String>

    /// 2026-11-30, a Monday, 00:00 in UTC.
    private static let monday = CivilDate(2026, 11, 30)
    private static func at(_ hours: Int64, _ minutes: Int64 = 0, _ seconds: Int64 = 0, day: Int64 = 0) -> Int64 {
        monday.number * 86_400 + day * 86_400 + hours * 3600 + minutes * 60 + seconds
    }
    private static func utc(_: ZoneName?) -> ZoneRules { .utc }
    private static let halfPastSix = TimeOfDay(minutes: 390)

    private static func alarm(
        _ name: String, _ days: AlarmDaysRequest = .weekly(.daily), time: TimeOfDay = halfPastSix, now: Int64 = at(0),
        user: UInt32 = 1000, _ content: String = "list:morning"
    ) throws -> Alarm<String> {
        let schedule = try AlarmSchedule(time, days, now: now, in: .utc)
        return Alarm(name: try AlarmName(name), user: user, schedule, zone: nil, content)
    }

    private static func book(_ alarms: Alarm<String>..., now: Int64 = at(0)) throws -> Book {
        var book = Book()
        for alarm in alarms { #expect(try book.set(alarm, now: now, utc).isEmpty) }
        return book
    }

    @Test("it rings at its time, once, and wakes the daemon for nothing else")
    func rings() throws {
        var book = try Self.book(Self.alarm("work"))
        #expect(book.wake(after: Self.at(0), Self.utc) == Self.at(6, 30))
        #expect(book.take(now: Self.at(6, 29, 59), Self.utc) == [])
        #expect(book.take(now: Self.at(6, 30), Self.utc) == [.ring("work", seconds: 3600)])
        #expect(book.life == .ringing(.init(name: "work", date: Self.monday, began: Self.at(6, 30))))
        #expect(book.take(now: Self.at(6, 30), Self.utc) == [] && book.take(now: Self.at(6, 40), Self.utc) == [])
        #expect(book.wake(after: Self.at(6, 30), Self.utc) == Self.at(6, 30, day: 1))
        #expect(try book.dismiss() == [.silence("work", .dismissed)])
        #expect(book.life == .idle)
        #expect(throws: AlarmRefusal.nothingRings) { try book.dismiss() }
        #expect(Book().wake(after: Self.at(0), Self.utc) == nil)
    }

    @Test("ten minutes late it rings, later it was missed")
    func late() throws {
        var book = try Self.book(Self.alarm("work"))
        #expect(book.take(now: Self.at(6, 40), Self.utc) == [.ring("work", seconds: 3600)])
        book = try Self.book(Self.alarm("work"))
        #expect(book.take(now: Self.at(6, 40, 1), Self.utc) == [.missed("work", Self.monday)])
        #expect(book["work"]?.record.missed == Self.monday && book.life == .idle)
        // Reported once, until somebody has seen it.
        #expect(book.take(now: Self.at(7), Self.utc) == [])
        #expect(try book.dismiss() == [])
        #expect(book["work"]?.record.missed == nil)
        // After days the last date alone is reported.
        #expect(book.take(now: Self.at(12, day: 3), Self.utc) == [.missed("work", Self.monday.advanced(by: 3))])
        #expect(book.take(now: Self.at(6, 35, day: 5), Self.utc) == [.ring("work", seconds: 3600)])
        #expect(book["work"]?.record.missed == nil)
    }

    @Test("what was set after its time does not ring for it")
    func setLate() throws {
        for now in [Self.at(6, 30), Self.at(6, 31), Self.at(23)] {
            var book = try Self.book(Self.alarm("work", now: now), now: now)
            #expect(book.take(now: now, Self.utc) == [])
            #expect(book.wake(after: now, Self.utc) == Self.at(6, 30, day: 1))
            #expect(book.take(now: Self.at(6, 30, day: 1), Self.utc) == [.ring("work", seconds: 3600)])
        }
    }

    @Test("a clock that is set back does not ring it again")
    func setBack() throws {
        var book = try Self.book(Self.alarm("work"))
        _ = book.take(now: Self.at(6, 30), Self.utc)
        _ = try book.dismiss()
        #expect(book.take(now: Self.at(6), Self.utc) == [])
        #expect(book.wake(after: Self.at(6), Self.utc) == Self.at(6, 30, day: 1))
        #expect(book.take(now: Self.at(6, 30), Self.utc) == [])
        #expect(book.take(now: Self.at(6, 30, day: 1), Self.utc) == [.ring("work", seconds: 3600)])
        _ = try book.dismiss()
        // Both days are known after two days back.
        #expect(book.take(now: Self.at(23, day: -1), Self.utc) == [])
        #expect(book.wake(after: Self.at(23, day: -1), Self.utc) == Self.at(6, 30, day: 2))
    }

    @Test("a clock that was ahead for a while takes no alarm away")
    func ahead() throws {
        var book = try Self.book(Self.alarm("work"), Self.alarm("flight", .date(Self.monday.advanced(by: 1))))
        let far = Self.at(12, day: 5000)
        #expect(book.take(now: far, Self.utc).count == 2)
        #expect(book["flight"]?.isOn == false && book["work"]?.isOn == true)
        #expect(book["flight"]?.next(after: far, Self.utc) == nil)
        #expect(book.take(now: Self.at(6), Self.utc) == [])
        #expect(book["flight"]?.isOn == true && book.entries.allSatisfy { $0.record.missed == nil })
        #expect(book.take(now: Self.at(6, 30), Self.utc) == [.ring("work", seconds: 3600)])
        _ = try book.dismiss()
        let both = book.take(now: Self.at(6, 30, day: 1), Self.utc)
        #expect(both == [.ring("work", seconds: 3600)] && book["flight"]?.isOn == false)
    }

    @Test("an alarm with one date is off after it rang, and after it was missed")
    func once() throws {
        for (late, isDue) in [(0, true), (600, true), (601, false)] as [(Int64, Bool)] {
            for days in [.date(Self.monday), .next] as [AlarmDaysRequest] {
                var book = try Self.book(Self.alarm("once", days))
                let effects = book.take(now: Self.at(6, 30) + late, Self.utc)
                #expect(effects == [isDue ? .ring("once", seconds: 3600) : .missed("once", Self.monday)])
                #expect(book["once"]?.isOn == false && book.wake(after: Self.at(7), Self.utc) == nil)
                if isDue {
                    // It stays off if the clock is set back.
                    _ = try book.dismiss()
                    #expect(book.take(now: Self.at(1), Self.utc) == [] && book.wake(after: Self.at(1), Self.utc) == nil)
                    #expect(book["once"]?.isOn == false)
                }
            }
        }
    }

    @Test("switched off it does nothing, switched on it begins anew")
    func switches() throws {
        var book = try Self.book(Self.alarm("work"), Self.alarm("once", .next), Self.alarm("date", .date(Self.monday)))
        for name in ["work", "once", "date"] { #expect(try book.enable(name, false, now: Self.at(6), Self.utc) == []) }
        #expect(book.wake(after: Self.at(6), Self.utc) == nil && book.take(now: Self.at(6, 30), Self.utc) == [])
        #expect(try book.enable("work", true, now: Self.at(6, 35), Self.utc) == [])
        #expect(try book.enable("once", true, now: Self.at(6, 35), Self.utc) == [])
        #expect(book.take(now: Self.at(6, 35), Self.utc) == [])
        #expect(book["once"]?.alarm.schedule.days == .next(Self.monday.advanced(by: 1)))
        #expect(throws: AlarmRefusal.isOver(LocalTime(Self.monday, Self.halfPastSix))) {
            try book.enable("date", true, now: Self.at(6, 35), Self.utc)
        }
        #expect(book["date"]?.isOn == false)
        #expect(throws: AlarmRefusal.noSuchAlarm("x")) { try book.enable("x", true, now: 0, Self.utc) }
        // To switch on what is on changes nothing.
        let before = book
        #expect(try book.enable("work", true, now: Self.at(7), Self.utc) == [] && book == before)
        // One that rings rings on if it is switched on, and falls silent if it is switched off.
        _ = book.take(now: Self.at(6, 30, day: 1), Self.utc)
        #expect(try book.enable("work", true, now: Self.at(6, 31, day: 1), Self.utc) == [])
        #expect(book.life.name == "work")
        #expect(try book.enable("work", false, now: Self.at(6, 31, day: 1), Self.utc) == [.silence("work", .changed)])
        #expect(book.life == .idle)
    }

    @Test("a snooze ends at its instant, and a clock that is set does not make it longer")
    func snooze() throws {
        var book = try Self.book(Self.alarm("work"))
        #expect(throws: AlarmRefusal.nothingRings) { try book.snooze(now: Self.at(6)) }
        _ = book.take(now: Self.at(6, 30), Self.utc)
        #expect(try book.snooze(now: Self.at(6, 31)) == [.silence("work", .snoozed)])
        #expect(
            book.life.snoozedUntil == Self.at(6, 40) && book.wake(after: Self.at(6, 31), Self.utc) == Self.at(6, 40))
        #expect(book.take(now: Self.at(6, 39, 59), Self.utc) == [])
        #expect(book.take(now: Self.at(6, 40), Self.utc) == [.ring("work", seconds: 3600)])
        // Again, and longer while it snoozes; the number is bounded.
        _ = try book.snooze(60, now: Self.at(6, 41))
        #expect(try book.snooze(.max, now: Self.at(6, 41, 30)) == [])
        #expect(book.life.snoozedUntil == Self.at(7, 41, 30))
        #expect(try book.snooze(.min, now: Self.at(6, 42)) == [] && book.life.snoozedUntil == Self.at(6, 43))
        _ = try book.snooze(now: Self.at(6, 42))
        #expect(book.take(now: Self.at(3), Self.utc) == [] && book.life.snoozedUntil == Self.at(3, 9))
        #expect(book.take(now: Self.at(3, 19), Self.utc) == [.ring("work", seconds: 3600)])
        _ = try book.snooze(now: Self.at(3, 20))
        #expect(book.take(now: Self.at(3, 39, 1), Self.utc) == [.missed("work", Self.monday)])
        #expect(book["work"]?.record.missed == Self.monday && book.life == .idle)
        // Dismissed while it snoozes, it does not ring.
        _ = try book.dismiss()
        _ = book.take(now: Self.at(6, 30, day: 1), Self.utc)
        _ = try book.snooze(now: Self.at(6, 31, day: 1))
        #expect(try book.dismiss() == [])
        #expect(book.take(now: Self.at(6, 40, day: 1), Self.utc) == [])
    }

    @Test("it stops after an hour")
    func hour() throws {
        var book = try Self.book(Self.alarm("work"))
        _ = book.take(now: Self.at(6, 30), Self.utc)
        #expect(book.timeIsUp() == [.silence("work", .timeIsUp)] && book.life == .idle)
        #expect(book.timeIsUp() == [] && book["work"]?.record.missed == nil)
        _ = book.take(now: Self.at(6, 30, day: 1), Self.utc)
        _ = try book.snooze(now: Self.at(6, 35, day: 1))
        // A timer that comes too late ends no snooze.
        #expect(book.timeIsUp() == [] && book.life.snoozedUntil != nil)
    }

    @Test("after a restart it rings for the rest of its hour")
    func resume() throws {
        var saved = try Self.book(Self.alarm("work"))
        _ = saved.take(now: Self.at(6, 30), Self.utc)
        func resumed(_ now: Int64) -> (effects: [AlarmEffect], book: Book) {
            var book = Book(saved.entries, saved.life)
            return (book.resume(now: now, Self.utc), book)
        }
        #expect(resumed(Self.at(6, 31)).effects == [.ring("work", seconds: 3540)])
        #expect(resumed(Self.at(7, 29, 59)).effects == [.ring("work", seconds: 1)])
        let late = resumed(Self.at(7, 30))
        #expect(late.effects == [.missed("work", Self.monday)] && late.book["work"]?.record.missed == Self.monday)
        // The clock of a host without a battery may stand earlier.
        #expect(resumed(Self.at(6)).effects == [.ring("work", seconds: 3600)])
        #expect(resumed(Self.at(6)).book.life == .ringing(.init(name: "work", date: Self.monday, began: Self.at(6))))
        // Before and after a snooze.
        _ = try saved.snooze(now: Self.at(6, 31))
        #expect(resumed(Self.at(6, 39)).effects == [])
        #expect(resumed(Self.at(6, 50)).effects == [.ring("work", seconds: 3600)])
        #expect(resumed(Self.at(6, 51)).effects == [.missed("work", Self.monday)])
        // A life without its alarm is nothing.
        #expect(Book([], saved.life).life == .idle)
    }

    @Test("of alarms that are due the latest rings, and it replaces the one that rings")
    func several() throws {
        var book = try Self.book(
            Self.alarm("a"), Self.alarm("b", time: TimeOfDay(minutes: 395)),
            Self.alarm("c", time: TimeOfDay(minutes: 395)))
        #expect(book.take(now: Self.at(6, 36), Self.utc) == [.ring("b", seconds: 3600)])
        #expect(book.take(now: Self.at(6, 37), Self.utc) == [])
        #expect(try book.dismiss() == [.silence("b", .dismissed)])
        #expect(book.take(now: Self.at(6, 30, day: 1), Self.utc) == [.ring("a", seconds: 3600)])
        #expect(book.next(after: Self.at(6, 30, day: 1), Self.utc)?.entry.alarm.name == "b")
        let second = book.take(now: Self.at(6, 35, day: 1), Self.utc)
        #expect(second == [.silence("a", .replaced), .ring("b", seconds: 3600)])
        // One that snoozes gives way, too.
        _ = try book.snooze(now: Self.at(6, 29, day: 2))
        #expect(book.take(now: Self.at(6, 30, day: 2), Self.utc) == [.ring("a", seconds: 3600)])
        #expect(try book.delete("a") == [.silence("a", .changed)])
        #expect(book.entries.map(\.alarm.name) == ["b", "c"])
        #expect(throws: AlarmRefusal.noSuchAlarm("a")) { try book.delete("a") }
    }

    @Test("64 alarms, 16 of each user, and a change needs no room")
    func limits() throws {
        var book = Book()
        for number in 0..<64 {
            _ = try book.set(Self.alarm("\(number)", user: UInt32(number / 16)), now: Self.at(0), Self.utc)
            if number == 15 {
                #expect(throws: AlarmRefusal.userIsFull(limit: 16)) {
                    try book.set(Self.alarm("x", user: 0), now: Self.at(0), Self.utc)
                }
            }
        }
        let full = book
        #expect(throws: AlarmRefusal.full(limit: 64)) {
            try book.set(Self.alarm("x", user: 9), now: Self.at(0), Self.utc)
        }
        #expect(book == full)
        _ = try book.set(Self.alarm("63", user: 3, "other"), now: Self.at(0), Self.utc)
        #expect(book.entries.count == 64 && book["63"]?.alarm.content == "other")
        #expect(Book(full.entries + full.entries, .idle) == full)
    }

    @Test("an alarm that is set again begins anew")
    func setAgain() throws {
        var book = try Self.book(Self.alarm("work"))
        _ = book.take(now: Self.at(6, 30), Self.utc)
        let later = try Self.alarm("work", time: TimeOfDay(minutes: 400))
        #expect(try book.set(later, now: Self.at(6, 31), Self.utc) == [.silence("work", .changed)])
        #expect(book.take(now: Self.at(6, 40), Self.utc) == [.ring("work", seconds: 3600)])
    }

    @Test("a change of the zone counts at once, and no date rings twice by it")
    func zoneChange() throws {
        let zones = try ["Europe/Berlin", "America/New_York"].map { try ZoneOracle.rules($0) }
        var book = Book()
        _ = try book.set(Self.alarm("work"), now: Self.at(0)) { _ in zones[0] }
        #expect(book.wake(after: Self.at(0)) { _ in zones[0] } == Self.at(5, 30))
        #expect(book.wake(after: Self.at(0)) { _ in zones[1] } == Self.at(11, 30))
        #expect(book.take(now: Self.at(5, 30)) { _ in zones[0] } == [.ring("work", seconds: 3600)])
        _ = try book.dismiss()
        // In New York it is half past midnight of the same date.
        #expect(book.take(now: Self.at(5, 31)) { _ in zones[1] } == [])
        #expect(book.wake(after: Self.at(5, 31)) { _ in zones[1] } == Self.at(11, 30, day: 1))
        #expect(book.take(now: Self.at(11, 30)) { _ in zones[1] } == [])
        #expect(book.take(now: Self.at(11, 30, day: 1)) { _ in zones[1] } == [.ring("work", seconds: 3600)])
    }

    @Test("names of alarms")
    func alarmNames() throws {
        for text in ["work", "1", "für die Arbeit", String(repeating: "ä", count: 40)] {
            #expect(try AlarmName(text).text == text)
        }
        for text in ["", " x", "x ", "-x", "a\nb", "\u{202e}x", String(repeating: "ä", count: 41)] {
            #expect(throws: TextMistake.self) { try AlarmName(text) }
        }
        #expect(AlarmName(besides: []).text == "1" && AlarmName(besides: ["1", "3", "work", "2"]).text == "4")
    }

    @Test("reasons are sentences without control characters")
    func reasons() {
        let reasons: [AlarmRefusal] = [
            .noSuchAlarm("a\u{1b}b"), .isOver(LocalTime(seconds: 0)), .full(limit: 64), .userIsFull(limit: 16),
            .nothingRings,
        ]
        #expect(Set(reasons.map(\.message)).count == reasons.count)
        #expect(reasons[0].message.contains("a\\u{1b}b"))
    }
}

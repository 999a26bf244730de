import Testing

@testable import Alarms

/// Dates, times and days of the week, and the texts of people for them.
@Suite struct CalendarTests {
    @Test("each day of eight centuries follows the one before")
    func dates() throws {
        var expected = (year: 1600, month: 1, day: 1, weekday: 5)
        for number in CivilDate(1600, 1, 1).number..<CivilDate(2400, 1, 2).number {
            let date = CivilDate(number: number)
            let parts = date.parts
            let isRight =
                parts == (Int64(expected.year), expected.month, expected.day) && date.weekday == expected.weekday
                && CivilDate(year: expected.year, month: expected.month, day: expected.day) == date
            try #require(isRight, "day \(number)")
            let isLeap = expected.year % 4 == 0 && (expected.year % 100 != 0 || expected.year % 400 == 0)
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            expected.weekday = (expected.weekday + 1) % 7
            expected.day += 1
            if expected.day > lengths[expected.month - 1] { (expected.day, expected.month) = (1, expected.month + 1) }
            if expected.month > 12 { (expected.month, expected.year) = (1, expected.year + 1) }
        }
        #expect(CivilDate(1970, 1, 1).number == 0 && CivilDate(1970, 1, 1).weekday == 3)
        #expect(CivilDate(number: .max).number == 1 << 25 && CivilDate(number: .min).text.hasPrefix("-"))
    }

    @Test("dates read as they are written")
    func dateTexts() throws {
        for text in ["1970-01-01", "2026-12-24", "2024-02-29", "2000-02-29", "9999-12-31"] {
            #expect(try CivilDate(text).text == text)
        }
        for text in [
            "", "2026", "2026-12", "2026-12-24-1", "2026-02-29", "2100-02-29", "2026-00-01", "2026-13-01", "2026-01-00",
            "2026-04-31", "26-12-24", "2026-1-2", "02026-12-24", "-2026-12-24", "2026-12-2４", "1969-12-31",
            "2026/12/24",
            " 2026-12-24", "+026-12-24", "tomorrow",
        ] {
            #expect(throws: TextMistake.self, "\(text)") { try CivilDate(text) }
        }
    }

    @Test("times of day read in one form, and are written in it")
    func times() throws {
        for minute in 0..<1440 {
            let time = TimeOfDay(minutes: minute)
            #expect(try TimeOfDay(time.text) == time && time.text.utf8.count == 5)
        }
        #expect(try TimeOfDay("6:30").text == "06:30" && TimeOfDay("06:30").minutes == 390)
        for text in [
            "", ":", "6", "630", "6:3", "6:300", "24:00", "12:60", "006:30", "-6:30", "+6:30", "6:30:00", "6:30 pm",
            "٦:٣٠",
            "6.30", " 6:30", "06:30\u{0}",
        ] {
            #expect(throws: TextMistake.self, "\(text)") { try TimeOfDay(text) }
        }
        #expect([-1, 1440, .max, .min].map { TimeOfDay(minutes: $0).minutes } == [0, 1439, 1439, 0])
    }

    @Test("a mistake names the text and the form, without control characters")
    func mistakes() {
        let mistake = #expect(throws: TextMistake.self) { try TimeOfDay("7\u{1b}[31m") }
        let form = "hours and minutes from 00:00 to 23:59, such as 06:30"
        #expect(mistake?.message == "invalid time “7\\u{1b}[31m” (expected \(form))")
        let long = #expect(throws: TextMistake.self) { try Weekdays(String(repeating: "mon,", count: 5000)) }
        #expect((long?.message.count ?? 999) < 200)
    }

    @Test("each set of days reads as it is written")
    func everySet() throws {
        for bits in 1..<128 as Range<UInt8> {
            let days = Weekdays(rawValue: bits)
            #expect(try Weekdays(days.text) == days)
            #expect(try Weekdays(names: days.names) == days)
            #expect(days.names.count == bits.nonzeroBitCount)
            // 2026-11-30 is a Monday.
            let contained = (0..<7).filter { days.contains(CivilDate(2026, 11, 30).advanced(by: Int64($0))) }
            #expect(contained == (0..<7).filter { bits & 1 << UInt8($0) != 0 })
        }
    }

    @Test(
        "days as people write them",
        arguments: [
            ("mon-fri", "mon-fri"), ("weekdays", "mon-fri"), ("sat,sun", "sat,sun"), ("weekends", "sat,sun"),
            ("daily", "daily"), ("mon-sun", "daily"), ("fri-mon", "mon,fri-sun"), ("Mo-Fr", "mon-fri"),
            ("SUNDAY , tuesday", "tue,sun"), ("mon, wed - fri", "mon,wed-fri"), ("sun-sun", "sun"), ("thurs", "thu"),
            ("weekdays,sat", "mon-sat"), ("daily,mon", "daily"), ("tue,tue", "tue"),
        ])
    func days(_ text: String, _ canonical: String) throws { #expect(try Weekdays(text).text == canonical) }

    @Test(
        "texts that name no days",
        arguments: [
            "", ",", "mon,", "m", "mon--fri", "mon-", "-fri", "mon-fri-sun", "monx", "mondayy", "12", "sun;mon", "сб",
        ])
    func noDays(_ text: String) {
        #expect(throws: TextMistake.self) { try Weekdays(text) }
        #expect(throws: TextMistake.self) { try Weekdays(names: [text]) }
        #expect(throws: TextMistake.self) { try Weekdays(names: []) }
    }

    @Test("readings before and after 1970")
    func readings() {
        #expect(
            LocalTime(seconds: -1).text == "1969-12-31 23:59" && LocalTime(seconds: 86_399).text == "1970-01-01 23:59")
        #expect(LocalTime(CivilDate(2026, 12, 24), TimeOfDay(minutes: 390)).text == "2026-12-24 06:30")
        #expect(LocalTime(seconds: .max).date == CivilDate(number: 1 << 41 / 86_400))
    }

    @Test("names of zones are paths that stay in their folder")
    func zoneNames() throws {
        for text in ["Europe/Berlin", "UTC", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "America/Port-au-Prince"] {
            #expect(try ZoneName(text).text == text)
            #expect(ZoneName(linkTarget: "/usr/share/zoneinfo/" + text)?.text == text)
            #expect(ZoneName(linkTarget: "../usr/share/zoneinfo/" + text)?.text == text)
        }
        for text in [
            "", "/", "/etc/passwd", "../x", "Europe/../../x", "Europe//Berlin", "Europe/", ".hidden",
            "Europe/Berlin\u{0}",
            "Euröpe/X", "-x", "1x", "a b", String(repeating: "a", count: 65),
        ] {
            #expect(throws: TextMistake.self, "\(text)") { try ZoneName(text) }
            #expect(ZoneName(linkTarget: "/usr/share/zoneinfo/" + text) == nil)
        }
        #expect(ZoneName(linkTarget: "/etc/Europe/Berlin") == nil)
    }
}

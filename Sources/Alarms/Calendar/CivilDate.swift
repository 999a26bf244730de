/// A day of the Gregorian calendar, without a zone.
package struct CivilDate: Hashable, Comparable, Sendable {
    /// Days since 1970-01-01, at most 33 million before or after it.
    package let number: Int64

    /// The farthest number of a day. Seconds of such a day can be computed without overflow.
    private static let farthest: Int64 = 1 << 25

    /// The day that is `number` days after 1970-01-01; one that is too far away becomes the farthest.
    package init(number: Int64) { self.number = max(-Self.farthest, min(Self.farthest, number)) }

    /// The day of this year, month (1…12) and day of the month; nil: the calendar has no such day.
    package init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year)
        else { return nil }
        self.init(number: Self.start(ofMonth: month, of: Int64(year)) + Int64(day) - 1)
    }

    /// Reads `2026-12-24`, from 1970 on. Throws if that is no day of the calendar.
    package init(_ text: String) throws(TextMistake) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let year = Digits.number(parts[0], 4...4), year >= 1970,
            let month = Digits.number(parts[1], 2...2), let day = Digits.number(parts[2], 2...2),
            let date = CivilDate(year: year, month: month, day: day)
        else { throw TextMistake("date", text, "a day of the calendar, such as 2026-12-24") }
        self = date
    }

    package static func < (a: Self, b: Self) -> Bool { a.number < b.number }

    /// The day that is this many days later, or earlier if negative.
    package func advanced(by days: Int64) -> CivilDate { CivilDate(number: number &+ days) }

    /// Day of the week: 0 is Monday, 6 is Sunday.
    package var weekday: Int { Int(((number + 3) % 7 + 7) % 7) }

    /// Its year, month (1…12) and day of the month. Years before 1 count 0, -1, …
    package var parts: (year: Int64, month: Int, day: Int) {
        // Days since 0000-03-01, in a calendar whose years begin in March, so that a leap day ends its year.
        let days = number + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = Int(shifted < 10 ? shifted + 3 : shifted - 9)
        let day = Int(dayOfYear - (153 * shifted + 2) / 5 + 1)
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    /// `2026-12-24`.
    package var text: String {
        let (year, month, day) = parts
        return Digits.text(Int(year), 4) + "-" + Digits.text(month, 2) + "-" + Digits.text(day, 2)
    }

    /// Number of the first day of a month, 1…12.
    static func start(ofMonth month: Int, of year: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5)
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// True for a year with a 29 February.
    static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    /// Number of days in a month, 1…12.
    static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: isLeap(Int64(year)) ? 29 : 28
        case _: 31
        }
    }
}

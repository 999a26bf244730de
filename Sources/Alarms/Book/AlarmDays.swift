/// The days of an alarm.
package enum AlarmDays: Hashable, Sendable {
    /// These days of each week.
    case weekly(Weekdays)
    /// One date, after which the alarm is over.
    case date(CivilDate)
    /// The next time that the clock reaches its time of day after somebody set it or switched it on: on this date.
    /// After that the alarm is over.
    case next(CivilDate)

    /// The only date; nil: it repeats.
    var onlyDate: CivilDate? {
        switch self {
        case .weekly: nil
        case .date(let date), .next(let date): date
        }
    }

    /// `mon-fri`, or the date.
    package var text: String {
        switch self {
        case .weekly(let days): days.text
        case .date(let date), .next(let date): date.text
        }
    }
}

/// The days that a client requests.
package enum AlarmDaysRequest: Hashable, Sendable {
    /// These days of each week.
    case weekly(Weekdays)
    case date(CivilDate)
    /// The next time that the clock reaches the time of day.
    case next

    /// Reads days of the week (`Weekdays.init`), a date, or `next`. Throws if the text is neither.
    package init(_ text: String) throws(TextMistake) {
        if text.lowercased() == "next" {
            self = .next
        } else if let first = text.utf8.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) {
            self = .date(try CivilDate(text))
        } else {
            do { self = .weekly(try Weekdays(text)) } catch {
                throw TextMistake(
                    "days", text, "mon-fri, sat,sun, daily, weekdays, weekends, next or a date such as 2026-12-24")
            }
        }
    }
}

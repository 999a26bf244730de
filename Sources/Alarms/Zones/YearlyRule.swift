/// The rule of a zone for all years: a standard time, and in many zones a daylight saving time between two dates. It
/// comes from the footer of a zone file, in the form of the variable TZ of POSIX.
struct YearlyRule: Hashable, Sendable {
    /// Seconds east of UTC in standard time.
    let standard: Int32
    /// Daylight saving time; nil: the zone has none.
    let saving: Saving?

    /// The daylight saving time of a zone.
    struct Saving: Hashable, Sendable {
        /// Seconds east of UTC.
        let offset: Int32
        /// Its first moment, on a clock of standard time.
        let start: Moment
        /// Its end, on a clock of daylight saving time.
        let end: Moment
    }

    /// A moment of each year.
    struct Moment: Hashable, Sendable {
        let day: Day
        /// Seconds after the midnight at which the day begins, up to a week before or after it.
        let time: Int32

        /// Its reading in a year, in seconds since 1970-01-01 00:00.
        fileprivate func reading(in year: Int64) -> Int64 { day.number(in: year) * 86_400 + Int64(time) }
    }

    /// A day of each year.
    enum Day: Hashable, Sendable {
        /// The day with this number, 1…365; 29 February has none.
        case julian(Int)
        /// The day that is this many days after 1 January, 0…365.
        case afterNewYear(Int)
        /// The weekday (0 is Sunday) of this week (1…5, 5 is the last one) of this month (1…12).
        case weekday(month: Int, week: Int, weekday: Int)

        /// Days since 1970-01-01.
        fileprivate func number(in year: Int64) -> Int64 {
            switch self {
            case .julian(let day):
                let isAfterLeapDay = day >= 60 && CivilDate.isLeap(year)
                return CivilDate.start(ofMonth: 1, of: year) + Int64(day) - (isAfterLeapDay ? 0 : 1)
            case .afterNewYear(let days): return CivilDate.start(ofMonth: 1, of: year) + Int64(days)
            case .weekday(let month, let week, let weekday):
                let start = CivilDate.start(ofMonth: month, of: year)
                let end =
                    month == 12
                    ? CivilDate.start(ofMonth: 1, of: year + 1)
                    : CivilDate.start(ofMonth: month + 1, of: year)
                // 1970-01-01 was a Thursday.
                let first = start + ((Int64(weekday) - start - 4) % 7 + 7) % 7
                let day = first + Int64(week - 1) * 7
                return day < end ? day : day - 7
            }
        }
    }

    /// Seconds east of UTC at an instant (seconds since 1970, UTC).
    func offset(at instant: Int64) -> Int32 {
        guard let saving else { return standard }
        let year = Self.year(of: instant)
        // A time of a rule may lie a week outside its year, and the saving may last for a whole one.
        let isSaving = (year - 2...year + 1).contains { year in
            let start = start(saving, year)
            let end = end(saving, year)
            return start <= instant && instant < (end > start ? end : self.end(saving, year + 1))
        }
        return isSaving ? saving.offset : standard
    }

    /// The first instant after this one at which the offset may change; nil: it never does.
    func nextChange(after instant: Int64) -> Int64? {
        guard let saving else { return nil }
        let year = Self.year(of: instant)
        return (year - 2...year + 2).flatMap { [start(saving, $0), end(saving, $0)] }.filter { $0 > instant }.min()
    }

    private func start(_ saving: Saving, _ year: Int64) -> Int64 {
        saving.start.reading(in: year) - Int64(standard)
    }

    private func end(_ saving: Saving, _ year: Int64) -> Int64 {
        saving.end.reading(in: year) - Int64(saving.offset)
    }

    private static func year(of instant: Int64) -> Int64 { LocalTime(seconds: instant).date.parts.year }
}

/// The reading of a calendar and a clock in some zone.
package struct LocalTime: Hashable, Comparable, Sendable {
    /// Seconds since 1970-01-01 00:00 as this clock counts them.
    package let seconds: Int64

    /// The farthest reading: about 69,000 years. What is computed from it stays in range.
    static let farthest: Int64 = 1 << 41

    /// A reading by its seconds since 1970-01-01 00:00; one that is too far away becomes the farthest.
    package init(seconds: Int64) { self.seconds = max(-Self.farthest, min(Self.farthest, seconds)) }

    /// The reading at a time of this day.
    package init(_ date: CivilDate, _ time: TimeOfDay) {
        self.init(seconds: date.number * 86_400 + Int64(time.minutes) * 60)
    }

    package static func < (a: Self, b: Self) -> Bool { a.seconds < b.seconds }

    /// Its day.
    package var date: CivilDate {
        CivilDate(number: (seconds >= 0 ? seconds : seconds - 86_399) / 86_400)
    }

    /// Its time of day without the seconds.
    package var time: TimeOfDay { TimeOfDay(minutes: Int(seconds - date.number * 86_400) / 60) }

    /// `2026-12-24 06:30`.
    package var text: String { date.text + " " + time.text }
}

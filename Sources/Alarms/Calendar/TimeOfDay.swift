/// A time of day to the minute, without a zone.
package struct TimeOfDay: Hashable, Comparable, Sendable {
    /// Minutes since midnight, 0…1439.
    package let minutes: Int

    /// The time at this minute after midnight, 0…1439; any other number becomes the nearest.
    package init(minutes: Int) { self.minutes = max(0, min(1439, minutes)) }

    /// Reads `06:30` or `6:30`, of 24 hours. Throws if that is no time.
    package init(_ text: String) throws(TextMistake) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let hours = Digits.number(parts[0], 1...2), hours < 24,
            let minutes = Digits.number(parts[1], 2...2), minutes < 60
        else { throw TextMistake("time", text, "hours and minutes from 00:00 to 23:59, such as 06:30") }
        self.init(minutes: hours * 60 + minutes)
    }

    package static func < (a: Self, b: Self) -> Bool { a.minutes < b.minutes }

    /// `06:30`.
    package var text: String { Digits.text(minutes / 60, 2) + ":" + Digits.text(minutes % 60, 2) }
}

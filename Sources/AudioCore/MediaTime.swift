import NowPlaying

/// A time in a source, exact in its original unit, from 0 to `TimeLimit.seconds`.
package struct MediaTime: Hashable, Sendable {
    /// Number of units.
    package let count: Int64
    /// Units a second.
    package let perSecond: Int64

    /// A time of `count` units, of which a second has `perSecond`.
    package init(_ count: Int64, perSecond: Int64) {
        let unit = max(1, min(perSecond, Self.finestUnit))
        self.count = max(0, min(count, Int64(clamping: TimeLimit.seconds) * unit))
        self.perSecond = unit
    }

    /// The nearest frame at this rate: the same for the end of one part and the beginning of the next.
    package func frames(atRate sampleRate: Int) -> Int64 {
        if perSecond == Int64(sampleRate) { return count }
        // Whole seconds and the rest are converted separately: no product overflows at any sampling rate.
        let (seconds, rest) = count.quotientAndRemainder(dividingBy: perSecond)
        return seconds * Int64(sampleRate) + (rest * Int64(sampleRate) + perSecond / 2) / perSecond
    }

    /// Maximum units a second.
    private static let finestUnit: Int64 = 1_000_000_000

    /// The same in seconds, rounded to a Double.
    package var seconds: Double { Double(count) / Double(perSecond) }

    /// True if it is before the other; both must have the same unit.
    package static func < (a: Self, b: Self) -> Bool { a.count < b.count }
}

import NowPlaying

/// A time in a piece of media, exact in the unit that it was given in, from 0 to `TimeLimit.seconds`.
package struct MediaTime: Hashable, Sendable {
    /// Number of units before it.
    package let count: Int64
    /// Units a second.
    package let perSecond: Int64

    /// So many units of which a second has `perSecond`.
    package init(_ count: Int64, perSecond: Int64) {
        let unit = max(1, min(perSecond, Self.finestUnit))
        self.count = max(0, min(count, Int64(clamping: TimeLimit.seconds) * unit))
        self.perSecond = unit
    }

    /// The nearest frame at this rate: the same for the end of one part and the beginning of the next.
    package func frames(atRate sampleRate: Int) -> Int64 {
        if perSecond == Int64(sampleRate) { return count }
        // Whole seconds and the rest apart: no product is too large for any sampling rate.
        let (seconds, rest) = count.quotientAndRemainder(dividingBy: perSecond)
        return seconds * Int64(sampleRate) + (rest * Int64(sampleRate) + perSecond / 2) / perSecond
    }

    /// Units a second, at most.
    private static let finestUnit: Int64 = 1_000_000_000

    /// The same in seconds, as near as a Double comes.
    package var seconds: Double { Double(count) / Double(perSecond) }

    /// True if it is before the other, which has the same unit.
    package static func < (a: Self, b: Self) -> Bool { a.count < b.count }
}

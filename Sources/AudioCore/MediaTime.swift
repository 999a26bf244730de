/// A time in a piece of media, exact in the unit that it was given in.
package struct MediaTime: Hashable, Sendable {
    /// How many of the units lie before it.
    package let count: Int64
    /// Units a second.
    package let perSecond: Int64

    /// So many units of which a second has `perSecond`.
    package init(_ count: Int64, perSecond: Int64) {
        self.count = count
        self.perSecond = max(1, perSecond)
    }

    /// The nearest frame at this rate: the same for the end of one part and the beginning of the next.
    package func frames(atRate sampleRate: Int) -> Int64 {
        if perSecond == Int64(sampleRate) { return count }
        let (product, isTooFar) = count.multipliedReportingOverflow(by: Int64(sampleRate))
        guard !isTooFar, product < .max - perSecond else { return .max }
        return (product + perSecond / 2) / perSecond
    }

    /// The same in seconds, as near as a Double comes.
    package var seconds: Double { Double(count) / Double(perSecond) }

    /// Whether it comes before the other, which has the same unit.
    package static func < (a: Self, b: Self) -> Bool { a.count < b.count }
}

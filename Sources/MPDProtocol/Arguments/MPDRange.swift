/// A range of indexes; the end is exclusive.
package struct MPDRange: Equatable, Sendable {
    /// First index.
    package let lower: Int
    /// Nil: to the end.
    package let upper: Int?

    /// Everything.
    package static let all = MPDRange(0, nil)

    /// A range, by its bounds.
    package init(_ lower: Int, _ upper: Int?) {
        self.lower = lower
        self.upper = upper
    }

    /// The indexes of this range among `count`; its end is clipped. Nil: it begins after the last index, or its end precedes
    /// its start.
    package func clipped(to count: Int) -> Range<Int>? {
        let end = min(upper ?? count, count)
        return lower <= end ? lower..<end : nil
    }
}

/// Limits of times from clients, saved files and media. Numbers within them can be added, multiplied by a sampling rate
/// and counted in nanoseconds without a trap.
package enum TimeLimit {
    /// Maximum seconds of a position or duration: about 116 days.
    package static let seconds = 1e7
    /// Maximum seconds, positive or negative, of differences and sums of times: advertisements add to the content.
    package static let span = 1e8

    /// The nearest position or duration, in seconds, in 0…`seconds`; 0 for NaN.
    package static func bounded(_ seconds: Double) -> Double {
        seconds > 0 ? min(seconds, Self.seconds) : 0
    }
}

extension FixedWidthInteger {
    /// The integer part of `value`; 0 for NaN. It never traps: a value out of range becomes the largest or smallest
    /// integer.
    @inlinable @inline(__always) package init(clamping value: Double) {
        if value > -0x1p63, value < 0x1p63 {
            self.init(clamping: Int64(value))
        } else {
            self = value.isNaN ? 0 : value < 0 ? .min : .max
        }
    }

    /// The same for single precision, which converts to a double exactly.
    @inlinable @inline(__always) package init(clamping value: Float) { self.init(clamping: Double(value)) }

    /// The sum, limited to the range of the type.
    package func addingClamped(_ other: Self) -> Self {
        let (sum, isTooFar) = addingReportingOverflow(other)
        return isTooFar ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, limited to the range of the type.
    package func subtractingClamped(_ other: Self) -> Self {
        let (difference, isTooFar) = subtractingReportingOverflow(other)
        return isTooFar ? (other < 0 ? .max : .min) : difference
    }
}

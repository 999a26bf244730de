/// Limits of the times that clients give, that were saved, and that media claim. Numbers within them can be added,
/// multiplied by a sampling rate and counted in nanoseconds without a trap.
package enum TimeLimit {
    /// Seconds: no position lies after it, and nothing lasts longer. About 116 days.
    package static let seconds = 1e7
    /// Seconds to either side in which differences and sums of times lie: advertisements come on top of the content.
    package static let span = 1e8

    /// The nearest position or duration, in seconds, that lies in 0…`seconds`; 0 for what is not a number.
    package static func bounded(_ seconds: Double) -> Double {
        seconds > 0 ? min(seconds, Self.seconds) : 0
    }
}

extension FixedWidthInteger {
    /// The integer nearest to `value`, without its fraction; 0 for what is not a number. It never traps: 2⁶³ and more is the
    /// largest integer, also of 64 bits without a sign.
    @inlinable @inline(__always) package init(clamping value: Double) {
        if value > -0x1p63, value < 0x1p63 {
            self.init(clamping: Int64(value))
        } else {
            self = value.isNaN ? 0 : value < 0 ? .min : .max
        }
    }

    /// The same for a number of single precision, which a double holds exactly.
    @inlinable @inline(__always) package init(clamping value: Float) { self.init(clamping: Double(value)) }

    /// The sum, or the nearest number that there is.
    package func addingClamped(_ other: Self) -> Self {
        let (sum, isTooFar) = addingReportingOverflow(other)
        return isTooFar ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest number that there is.
    package func subtractingClamped(_ other: Self) -> Self {
        let (difference, isTooFar) = subtractingReportingOverflow(other)
        return isTooFar ? (other < 0 ? .max : .min) : difference
    }
}

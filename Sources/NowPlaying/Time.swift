/// An instant of CLOCK_MONOTONIC of this host.
package struct MonotonicTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since the clock's own zero (boot, on Linux).
    package var nanoseconds: Int64

    /// An instant, in nanoseconds of CLOCK_MONOTONIC.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }

    /// The instant that is `seconds` later (earlier, when negative).
    package func advanced(bySeconds seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds + Int64((seconds * 1e9).rounded()))
    }

    /// Seconds from `earlier` to this instant; negative if this one is the earlier.
    package func seconds(since earlier: MonotonicTime) -> Double {
        Double(nanoseconds - earlier.nanoseconds) / 1e9
    }
}

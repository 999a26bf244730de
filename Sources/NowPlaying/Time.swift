import Glibc

/// An instant of CLOCK_MONOTONIC of this host. No conversion traps: an instant out of range becomes the nearest one in
/// it.
package struct MonotonicTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since the clock's own zero (boot, on Linux).
    package var nanoseconds: Int64

    /// The present instant, read from the kernel.
    package static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// An instant, in nanoseconds of CLOCK_MONOTONIC.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The instant nearest to this many seconds of CLOCK_MONOTONIC.
    package init(seconds: Double) { self.init(nanoseconds: Self.nanoseconds(seconds)) }

    package static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }

    /// The instant that is `seconds` later, or earlier if negative.
    package func advanced(bySeconds seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds.addingClamped(Self.nanoseconds(seconds)))
    }

    /// Seconds from `earlier` to this instant; negative if this one is earlier.
    package func seconds(since earlier: MonotonicTime) -> Double {
        Double(nanoseconds.subtractingClamped(earlier.nanoseconds)) / 1e9
    }

    /// Seconds since the clock's own zero.
    package var seconds: Double { Double(nanoseconds) / 1e9 }

    /// Microseconds since the clock's own zero, rounded up; 0 for instants before it.
    package var microsecondsRoundedUp: UInt64 { (UInt64(clamping: nanoseconds) + 999) / 1000 }

    /// Milliseconds for `poll(2)` until this instant, rounded up so that the instant has passed by then; 0 if it has
    /// passed.
    package var millisecondsLeft: Int32 {
        let left = nanoseconds - Self.now.nanoseconds
        return left <= 0 ? 0 : Int32(clamping: (left + 999_999) / 1_000_000)
    }

    /// The nearest number of nanoseconds.
    package static func nanoseconds(_ seconds: Double) -> Int64 { Int64(clamping: (seconds * 1e9).rounded()) }
}

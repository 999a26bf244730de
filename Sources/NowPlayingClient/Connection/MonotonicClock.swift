import Glibc
package import NowPlaying

/// CLOCK_MONOTONIC of this host, on which the daemon's anchors are.
package enum MonotonicClock {
    /// The present instant.
    package static func now() -> MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Milliseconds for `poll(2)` until `deadline`, rounded up so that it has passed then; -1 without one.
    static func milliseconds(until deadline: MonotonicTime?) -> Int32 {
        guard let deadline else { return -1 }
        let left = deadline.nanoseconds - now().nanoseconds
        return left <= 0 ? 0 : Int32(clamping: (left + 999_999) / 1_000_000)
    }
}

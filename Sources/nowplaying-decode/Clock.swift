import Glibc

/// The time that passes, whatever the wall clock does.
enum Clock {
    /// Seconds since some beginning.
    static var seconds: Double {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}

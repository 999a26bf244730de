package import Glibc

/// Times of files. They come from other machines and broken clocks, too: file systems keep times that nanoseconds in 64 bits
/// can't hold.
extension timespec {
    /// Nanoseconds since 1970; those of the years before 1678 and after 2261 are the nearest that Int64 holds.
    package var nanoseconds: Int64 {
        let (whole, isFar) = Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isBeyond) = whole.addingReportingOverflow(Int64(tv_nsec))
        return isFar || isBeyond ? (tv_sec < 0 ? .min : .max) : sum
    }

    /// Whole seconds from another time to this one, by their seconds alone; the nearest that Int holds.
    package func seconds(since other: timespec) -> Int {
        let (difference, isFar) = tv_sec.subtractingReportingOverflow(other.tv_sec)
        return isFar ? (tv_sec < other.tv_sec ? .min : .max) : difference
    }
}

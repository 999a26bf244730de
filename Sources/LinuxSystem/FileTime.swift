package import Glibc

/// Times of files. They also come from other machines and broken clocks: file systems hold times that exceed
/// nanoseconds in 64 bits.
extension timespec {
    /// Nanoseconds since 1970. Times before 1678 and after 2261 become the nearest value of Int64.
    package var nanoseconds: Int64 {
        let (whole, isFar) = Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isBeyond) = whole.addingReportingOverflow(Int64(tv_nsec))
        return isFar || isBeyond ? (tv_sec < 0 ? .min : .max) : sum
    }

    /// Whole seconds from another time to this one, without the nanoseconds; the nearest value of Int.
    package func seconds(since other: timespec) -> Int {
        let (difference, isFar) = tv_sec.subtractingReportingOverflow(other.tv_sec)
        return isFar ? (tv_sec < other.tv_sec ? .min : .max) : difference
    }
}

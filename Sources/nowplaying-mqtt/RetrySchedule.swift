/// When a broker that is not there is tried again.
enum RetrySchedule {
    /// Seconds between two attempts, at most.
    static let maximumPause = 64.0

    /// Seconds until the next attempt after so many in a row that failed before the last: 1, 2, 4 … 64.
    static func pause(after failures: Int) -> Double {
        var pause = 1.0
        for _ in 0..<max(0, min(failures, 6)) { pause *= 2 }
        return min(pause, maximumPause)
    }
}

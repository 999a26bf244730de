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

    /// The same for one box of many: a broker that was gone for all of them at once takes a hundred connections in one
    /// instant, and what is turned away there is tried again by the kernel, seconds later. From half to one and a half.
    static func spreadPause(after failures: Int) -> Double {
        min(pause(after: failures) * Double.random(in: 0.5..<1.5), maximumPause)
    }
}

/// Pauses between attempts to connect to a broker.
enum RetrySchedule {
    /// Seconds between two attempts, at most.
    static let maximumPause = 64.0

    /// Seconds until the next attempt. `failures`: the attempts in a row that failed before the last one. 1, 2, 4 … 64.
    static func pause(after failures: Int) -> Double {
        var pause = 1.0
        for _ in 0..<max(0, min(failures, 6)) { pause *= 2 }
        return min(pause, maximumPause)
    }

    /// The same, randomised from half to one and a half. A broker that returns gets a hundred connections of many boxes
    /// at one instant otherwise, and the kernel repeats rejected ones only seconds later.
    static func spreadPause(after failures: Int) -> Double {
        min(pause(after: failures) * Double.random(in: 0.5..<1.5), maximumPause)
    }
}

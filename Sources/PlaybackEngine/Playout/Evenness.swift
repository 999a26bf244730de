package import NowPlaying

/// Evenness of a device by its readings: a reading that does not fit the others shows a lost or inserted block. A pure
/// value.
package struct Evenness: Equatable, Sendable {
    /// Judgement of the device.
    package enum State: Equatable, Sendable {
        case even
        /// One reading did not fit; `agreeing`: number of the readings since then that do.
        case doubtful(agreeing: Int)
        /// More than one did not fit.
        case uneven(agreeing: Int)
    }

    private struct Reading: Equatable {
        var time: MonotonicTime
        /// Seconds of sound.
        var sound: Double
    }

    /// Judgement by the last reading.
    package private(set) var state = State.even
    /// Number of readings that did not fit.
    package private(set) var jumps = 0
    /// Seconds of sound that the device inserts (negative) or loses in a second on average; 0 while it is even.
    package private(set) var loss = 0.0
    /// Readings since the last one that fitted, of the last seconds.
    private var recent: [Reading] = []
    /// Instant of the last reading that did not fit.
    private var lastJump: MonotonicTime?

    /// Number of agreeing readings that end a doubt, and number that ends unevenness.
    private static let ofDoubt = 3
    private static let ofUnevenness = 12
    /// Span in seconds of readings that share an error.
    private static let burst = 0.25
    /// Span in seconds over which the loss is averaged.
    private static let span = 30.0
    /// Shortest span in seconds for an average.
    private static let shortest = 2.0
    /// Seconds after a jump during which the device counts as unsteady.
    private static let memory = 60.0
    /// Largest distance in seconds of readings from the line of a steady loss, root mean square. Losses that come in bursts
    /// say nothing about the next seconds.
    private static let steady = 0.01
    /// Largest plausible loss in seconds per second.
    private static let largest = 0.05

    /// An even device.
    package init() {}

    /// True unless the readings are trusted: further ones are needed soon.
    package var isWatched: Bool { state != .even }

    /// True at most a minute after a reading that did not fit.
    package func isUnsteady(at time: MonotonicTime) -> Bool {
        isWatched || (lastJump.map { time.seconds(since: $0) < Self.memory } ?? false)
    }

    /// Judges a reading. `sound` and `before`: seconds of sound at this reading and at the last one; `off`: seconds by
    /// which it is ahead of the line; `limit`: allowed scatter; `skew`: rate of the device minus 1. True: the line
    /// restarts.
    mutating func judge(
        _ time: MonotonicTime, sound: Double, before: (time: MonotonicTime, sound: Double), off: Double, limit: Double,
        skew: Double
    ) -> Bool {
        let moved = sound - before.sound - time.seconds(since: before.time) * (1 + skew)
        let fits: Bool
        switch state {
        case .even: fits = abs(off) <= limit
        // One block is seen between two readings of which neither is on an old line.
        case .doubtful, .uneven: fits = abs(moved) <= limit
        }
        // Readings in a burst agree with each other.
        if fits, state == .even || time.seconds(since: before.time) < Self.burst { return state != .even }
        if recent.isEmpty { recent = [Reading(time: before.time, sound: before.sound)] }
        recent.append(Reading(time: time, sound: sound))
        recent.removeAll { time.seconds(since: $0.time) > Self.span }
        if !fits {
            jumps += 1
            lastJump = time
        }
        advance(fits)
        loss = isUneven ? average(skew) : 0
        return true
    }

    private var isUneven: Bool {
        switch state {
        case .uneven: true
        case .even, .doubtful: false
        }
    }

    private mutating func advance(_ fits: Bool) {
        switch state {
        case .even: state = .doubtful(agreeing: 0)
        case .doubtful(let agreeing) where fits:
            state = agreeing + 1 < Self.ofDoubt ? .doubtful(agreeing: agreeing + 1) : .even
        case .uneven(let agreeing) where fits:
            state = agreeing + 1 < Self.ofUnevenness ? .uneven(agreeing: agreeing + 1) : .even
        case .doubtful, .uneven: state = .uneven(agreeing: 0)
        }
        if state == .even { recent = [] }
    }

    /// Seconds of sound at `time` on the line through the readings of an uneven device: as many as it has played on average.
    /// `skew`: rate of the device minus 1. Nil: the device is even, or the readings say too little.
    func sound(at time: MonotonicTime, skew: Double) -> Double? {
        guard isUneven, let first = recent.first, let line = line(skew) else { return nil }
        let seconds = time.seconds(since: first.time)
        return first.sound + seconds * (1 + skew) + line.mean + line.slope * (seconds - line.middle)
    }

    /// Slope of that line, without the skew.
    private func average(_ skew: Double) -> Double { line(skew)?.slope ?? 0 }

    /// Line through the recent readings by least squares: seconds of sound beyond the rate of the device, by the seconds since the
    /// first reading. Nil: the readings say too little, or the loss is not steady.
    private func line(_ skew: Double) -> (middle: Double, mean: Double, slope: Double)? {
        guard let first = recent.first, let last = recent.last, last.time.seconds(since: first.time) >= Self.shortest
        else { return nil }
        let points = recent.map { reading in
            let seconds = reading.time.seconds(since: first.time)
            return (seconds, reading.sound - first.sound - seconds * (1 + skew))
        }
        let count = Double(points.count)
        let middle = points.reduce(0) { $0 + $1.0 } / count
        let mean = points.reduce(0) { $0 + $1.1 } / count
        var above = 0.0
        var below = 0.0
        for (seconds, off) in points {
            above += (seconds - middle) * (off - mean)
            below += (seconds - middle) * (seconds - middle)
        }
        guard below > 0 else { return nil }
        let slope = above / below
        let squares = points.reduce(0) { sum, point in
            let residual = point.1 - mean - slope * (point.0 - middle)
            return sum + residual * residual
        }
        guard squares <= count * Self.steady * Self.steady else { return nil }
        return (middle, mean, min(max(slope, -Self.largest), Self.largest))
    }

    /// Restarts with another flow, whose frames are not those of the last one.
    mutating func restart() {
        recent = []
        loss = 0
        state = .even
    }
}

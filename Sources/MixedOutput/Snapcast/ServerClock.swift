import NowPlaying

/// The clock of another machine beside ours, by readings over the network. A reading of its lead over ours is wrong by half of
/// the time that it took, at most.
struct ServerClock: Equatable {
    /// One reading.
    struct Reading: Equatable, Sendable {
        /// Instant of ours.
        var time: MonotonicTime
        /// Seconds by which the other clock is ahead.
        var lead: Double
        /// Seconds by which that may be wrong.
        var error: Double
    }

    /// Rate of the clock relative to ours, minus 1; 0 until it is known.
    private(set) var skew = 0.0
    /// Amount by which that may be wrong.
    private(set) var skewError = usualSkew
    private var readings: [Reading] = []

    /// No two machines differ more, by their quartzes; and the error of a rate that is worth to be followed.
    private static let usualSkew = 0.0002
    private static let usefulError = 0.00005
    private static let mostReadings = 64
    /// Seconds in which a rate stays the same.
    private static let span = 1800.0

    /// Takes a reading that is later than all before.
    mutating func add(_ reading: Reading) {
        // A clock that contradicts its rate is another one, as after a restart of the machine.
        if let known = lead(at: reading.time), abs(known.lead - reading.lead) > known.error + reading.error {
            readings = []
        }
        readings.append(reading)
        readings.removeAll { reading.time.seconds(since: $0.time) > Self.span }
        if readings.count > Self.mostReadings {
            // The first ones say most about the rate, the last ones most about now.
            readings.remove(at: readings.count / 2)
        }
        estimate()
    }

    /// Finds the pair of readings that leaves the least doubt about the rate.
    private mutating func estimate() {
        (skew, skewError) = (0, Self.usualSkew)
        for (index, first) in readings.enumerated() {
            for second in readings[(index + 1)...] {
                let seconds = second.time.seconds(since: first.time)
                let error = seconds > 0 ? (first.error + second.error) / seconds : .infinity
                guard error < skewError, error <= Self.usefulError else { continue }
                (skew, skewError) = ((second.lead - first.lead) / seconds, error)
            }
        }
    }

    /// Lead of the clock at an instant, by the reading that leaves the least doubt, and the seconds by which it may be wrong;
    /// nil: there are no readings.
    func lead(at time: MonotonicTime) -> (lead: Double, error: Double)? {
        let leads = readings.map { reading in
            let seconds = time.seconds(since: reading.time)
            return (lead: reading.lead + skew * seconds, error: reading.error + skewError * abs(seconds))
        }
        return leads.min { $0.error < $1.error }
    }
}

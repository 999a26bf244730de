import NowPlaying

/// The clock of another machine beside ours, by readings over the network. The error of a reading of its lead is at most half of
/// the reading's duration.
struct ServerClock: Equatable {
    /// One reading.
    struct Reading: Equatable, Sendable {
        /// Instant of our clock.
        var time: MonotonicTime
        /// Lead of the other clock in seconds.
        var lead: Double
        /// Largest error of `lead` in seconds.
        var error: Double
    }

    /// Rate of the clock relative to ours, minus 1; 0 until it is known.
    private(set) var skew = 0.0
    /// Largest error of `skew`.
    private(set) var skewError = usualSkew
    private var readings: [Reading] = []

    /// Largest difference between the quartzes of two machines, and largest error of a rate that the clock uses.
    private static let usualSkew = 0.0002
    private static let usefulError = 0.00005
    private static let mostReadings = 64
    /// Seconds in which a rate stays the same.
    private static let span = 1800.0

    /// Takes a reading that is later than all before.
    mutating func add(_ reading: Reading) {
        // A clock that contradicts its rate is another one, for instance after a restart of the machine.
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

    /// Finds the pair of readings that gives the rate with the least error.
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

    /// Lead of the clock at an instant by the reading with the least error, and the largest error in seconds; nil: there are no
    /// readings.
    func lead(at time: MonotonicTime) -> (lead: Double, error: Double)? {
        let leads = readings.map { reading in
            let seconds = time.seconds(since: reading.time)
            return (lead: reading.lead + skew * seconds, error: reading.error + skewError * abs(seconds))
        }
        return leads.min { $0.error < $1.error }
    }
}

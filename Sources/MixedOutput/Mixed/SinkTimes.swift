import NowPlaying

/// Knowledge of the times at which the other end takes the chunks of a connection. Frames are counted since its
/// opening.
struct SinkTimes {
    /// Result of a request for the times.
    enum Change: Equatable {
        /// The end has had these times since the last start of our schedule: it took no chunk by our times.
        case always
        /// The end has these times from this frame on.
        case since(Int64)
    }

    private var pace = SinkPace()
    /// Instant of the first check at which it had not taken the due number of frames; nil: the last check was in order.
    private var missedAt: MonotonicTime?
    /// True if it has kept our times at a check since the last request.
    private var wereKept = false
    /// True if it has kept our times in this connection, by a check or an answer.
    private var areKnown = false

    /// Seconds by which our times and those of the other end may differ.
    private static let tolerance = 0.0002

    /// True if our times and those of an answer that may be wrong by so many seconds are the same.
    static func agree(_ late: Double, error: Double) -> Bool { abs(late) <= slack(error) }

    /// Seconds by which our times may then differ from those of an answer.
    static func slack(_ error: Double) -> Double { max(tolerance, error / 2) }

    /// Starts with a new connection, or with the times of an answer.
    mutating func begin(areKnown: Bool) {
        pace.reset()
        missedAt = nil
        wereKept = false
        self.areKnown = areKnown
    }

    /// Checks the pace, as `SinkPace.isKept` does. False: the times of the end differ from ours.
    mutating func isKept(taken: Int64, of made: Int64, due: Double, chunk: Int64, at now: MonotonicTime) -> Bool {
        let isKept = pace.isKept(taken: taken, of: made, due: due, chunk: chunk)
        if !pace.isClear { return isKept }
        if pace.missed == nil {
            missedAt = nil
            wereKept = true
            areKnown = true
        } else if missedAt == nil {
            missedAt = now
        }
        return isKept
    }

    /// True if the end has kept our times at a check since the last call.
    mutating func takeKept() -> Bool {
        defer { wereKept = false }
        return wereKept
    }

    /// True if the chunk at this frame was taken before our times were missed: its time says nothing about the present.
    func isOld(_ place: Int64) -> Bool { pace.missed.map { place <= $0 } ?? false }

    /// The frames whose times differ from ours, if the end takes the chunk that begins at `place` at `time`, which is
    /// not our time for it. `rate`: frames a second.
    func change(_ place: Int64, at time: MonotonicTime, chunk: Int64, rate: Int) -> Change {
        guard areKnown, let missed = pace.missed, let missedAt, missed < place else { return .always }
        // Its next chunk at that check, by the new times. An end that still runs takes that chunk within a chunk's
        // duration. An end that stood still gives the chunk for which it was late the old time.
        let next = time.advanced(bySeconds: -Double(place - missed) / Double(rate)).seconds(since: missedAt)
        let stands = next < 0 || next > Double(chunk) / Double(rate)
        return .since(stands ? min(place, missed + chunk) : missed)
    }
}

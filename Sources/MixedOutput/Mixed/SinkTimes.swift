import NowPlaying

/// Our knowledge of the times at which another end takes the chunks of a connection. Frames are counted since its opening.
struct SinkTimes {
    /// Answer to a question for them.
    enum Change: Equatable {
        /// The end has these times since the last beginning of our schedule: it took no chunk by our times.
        case always
        /// It has them from this frame on.
        case since(Int64)
    }

    private var pace = SinkPace()
    /// Instant of the first look at which it had not taken the number that was due; nil: the last look was in order.
    private var missedAt: MonotonicTime?
    /// True if it has kept our times at a look since the last question.
    private var wereKept = false
    /// True if it has kept our times in this connection, by a look or an answer.
    private var areKnown = false

    /// Seconds by which our times and those of the other end may differ.
    static let tolerance = 0.0002

    /// A connection is opened, or the times are those of its answer.
    mutating func begin(areKnown: Bool) {
        pace.reset()
        missedAt = nil
        wereKept = false
        self.areKnown = areKnown
    }

    /// Takes a look, as `SinkPace.isKept` does. False: the end has other times than ours.
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

    /// Returns true if the end has kept our times at a look since the last call.
    mutating func takeKept() -> Bool {
        defer { wereKept = false }
        return wereKept
    }

    /// True if the chunk at this frame was taken before our times were missed: its time says nothing about now.
    func isOld(_ place: Int64) -> Bool { pace.missed.map { place <= $0 } ?? false }

    /// The frames with other times than ours, if the chunk that begins at `place` is taken at `time`, which is not ours.
    /// `rate`: frames a second.
    func change(_ place: Int64, at time: MonotonicTime, chunk: Int64, rate: Int) -> Change {
        guard areKnown, let missed = pace.missed, let missedAt, missed < place else { return .always }
        // Its next chunk at the look, by the new times. An end that goes on by them takes that one within a chunk; one that
        // stands then gives the chunk for which it is late the old time.
        let next = time.advanced(bySeconds: -Double(place - missed) / Double(rate)).seconds(since: missedAt)
        let stands = next < 0 || next > Double(chunk) / Double(rate)
        return .since(stands ? min(place, missed + chunk) : missed)
    }
}

import NowPlaying

/// Knowledge of the times at which the other end takes the chunks of a connection. Frames are counted since its
/// opening.
struct SinkTimes {
    /// Result of a request for the times.
    enum Change: Equatable {
        /// The end has had these times since the last start of our schedule, as far as anybody knows.
        case always
        /// The end has these times from this frame on.
        case since(Int64)
    }

    /// Frames of a chunk, and frames a second.
    private let chunk: Int64
    private let rate: Double
    private var pace = SinkPace()
    /// Instant of the first check at which it had not taken the due number of frames; nil: the last check was in order.
    private var missedAt: MonotonicTime?
    /// True if it has kept our times at a check since the last request.
    private var wereKept = false
    /// Checks and answers in order since the last start of our schedule, by frame. Of two, the later one has the larger slack:
    /// it would make the other one worthless else. So there are few.
    private var agreements: [Agreement] = []

    /// Chunks for which the end had our times.
    private struct Agreement: Equatable {
        /// First frame of the last one.
        var frame: Int64
        /// Seconds by which the times may have differed.
        var slack: Double
    }

    /// Seconds by which our times and those of the other end may differ.
    private static let tolerance = 0.0002

    /// Nothing is known. `chunk`: frames of a chunk. `rate`: frames a second.
    init(chunk: Int64, rate: Int) { (self.chunk, self.rate) = (chunk, Double(rate)) }

    /// True if our times and those of an answer that may be wrong by so many seconds are the same.
    static func agree(_ late: Double, error: Double) -> Bool { abs(late) <= slack(error) }

    /// Seconds by which our times may then differ from those of an answer.
    static func slack(_ error: Double) -> Double { max(tolerance, error / 2) }

    /// Starts with a new connection, or with another start of our schedule.
    mutating func begin() {
        pace.reset()
        missedAt = nil
        wereKept = false
        agreements = []
    }

    /// Starts with the times of an answer about the chunk at `place`, which may be wrong by `error` seconds.
    mutating func begin(_ place: Int64, error: Double) {
        begin()
        agree(place, slack: Self.slack(error))
    }

    /// Takes an answer by which the chunk at `place` has our times. It may be wrong by `error` seconds. False: the end took the
    /// chunk before our times were missed, so that the answer says nothing about the present.
    mutating func confirm(_ place: Int64, error: Double) -> Bool {
        agree(place, slack: Self.slack(error))
        guard let missed = pace.missed else { return true }
        guard place > missed else { return false }
        // The end was only late at the checks since then.
        pace.reset()
        missedAt = nil
        return true
    }

    private mutating func agree(_ frame: Int64, slack: Double) {
        guard !agreements.contains(where: { $0.frame >= frame && $0.slack <= slack }) else { return }
        agreements.removeAll { $0.frame <= frame && $0.slack >= slack }
        let index = agreements.firstIndex { $0.frame > frame } ?? agreements.endIndex
        agreements.insert(Agreement(frame: frame, slack: slack), at: index)
    }

    /// Checks the pace, as `SinkPace.isKept` does. False: the times of the end differ from ours.
    mutating func isKept(taken: Int64, of made: Int64, due: Double, at now: MonotonicTime) -> Bool {
        let isKept = pace.isKept(taken: taken, of: made, due: due, chunk: chunk)
        if !pace.isClear { return isKept }
        if pace.missed == nil {
            missedAt = nil
            wereKept = true
            // The end took the chunk between its beginning and now.
            let begun = due.truncatingRemainder(dividingBy: Double(chunk))
            agree(taken - chunk, slack: begun / rate + SinkPace.margin)
        } else if missedAt == nil {
            missedAt = now
        }
        return isKept
    }

    /// True if the next check shall follow soon: it shows when the times changed, if they did.
    var isDoubtful: Bool { pace.isDoubtful }

    /// True if the end has kept our times at a check since the last call.
    mutating func takeKept() -> Bool {
        defer { wereKept = false }
        return wereKept
    }

    /// The frames whose times differ from ours, if the end takes the chunk that begins at `place` at `time`, which is
    /// `late` seconds after our time for it.
    func change(_ place: Int64, at time: MonotonicTime, late: Double) -> Change {
        // An agreement with more slack says nothing about so small a difference.
        guard let agreement = agreements.last(where: { $0.slack < abs(late) }) else { return .always }
        guard let missed = pace.missed, let missedAt, missed < place else {
            // No check saw the change: any chunk after the agreement, up to this one, may be the first one.
            let others = max(0, (place - agreement.frame) / chunk - 1)
            return .since(place - others / 2 * chunk)
        }
        // Its next chunk at that check, by the new times. An end that still runs takes that chunk within a chunk's
        // duration. An end that stood still gives the chunk for which it was late the old time.
        let next = time.advanced(bySeconds: -Double(place - missed) / rate).seconds(since: missedAt)
        let stands = next < 0 || next > Double(chunk) / rate
        return .since(stands ? min(place, missed + chunk) : missed)
    }
}

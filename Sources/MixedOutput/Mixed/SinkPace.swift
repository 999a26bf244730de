import NowPlaying

/// Compares the frames that the other end has taken with those that are due. It takes whole chunks, one after the
/// other, each when the chunk's first frame is due.
struct SinkPace: Equatable {
    /// The failed checks since the last one in order; nil: there were none.
    private var misses: Misses?

    private struct Misses: Equatable {
        var count: Int
        /// Frames that the end had taken at the first of them.
        let taken: Int64
        /// Frames by which a chunk had begun at the last one: the end is later than that.
        var leastDelay: Double
    }

    /// Frames that the end had taken at the first failed check; nil: at the last check it had taken the due number.
    var missed: Int64? { misses?.taken }

    /// False if the last look said nothing: fewer frames were made than were due, or an end that is late would have taken its
    /// chunk by then, too.
    private(set) var isClear = true

    /// True if the last check is a single failed one: the next one shows soon if only a busy machine was late. A check that says
    /// nothing ends the doubt, so that a machine that is always late is not woken for each chunk.
    var isDoubtful: Bool { misses?.count == 1 && isClear }

    /// Seconds after the beginning of a chunk at which to check: a larger delay of the other end is noticed.
    static let margin = 0.0012
    /// Number of failed checks that show other times: a busy machine delays the other end now and then without a change
    /// of its times.
    private static let patience = 2
    /// Part of a chunk by which a check may be later in its chunk than the failed one before, and still show that the end has our
    /// times.
    private static let phaseSlack = 1.0 / 16

    /// First frame of the last whole chunk before the frame `made`, or of the first chunk that begins after frame `place`,
    /// fractional, if that is later. Chunks begin at multiples from `opening` on.
    static func look(chunk: Int64, made: Int64, after place: Double, since opening: Int64) -> Int64 {
        let next = Int64(clamping: ((place - Double(opening)) / Double(chunk)).rounded(.up))
        return opening + max(next, (made - opening) / chunk - 1) * chunk
    }

    /// Checks the pace: the other end has taken `taken` of `made` frames, and the frame `due` is due, all counted since
    /// the opening. False: its times differ from ours.
    mutating func isKept(taken: Int64, of made: Int64, due: Double, chunk: Int64) -> Bool {
        let begun = Int64(clamping: (due / Double(chunk)).rounded(.down)) + 1
        let expected = min(made / chunk, max(0, begun)) * chunk
        let isAll = taken / chunk * chunk == expected
        let phase = due - Double(begun - 1) * Double(chunk)
        let isLate = misses.map { phase > $0.leastDelay + Double(chunk) * Self.phaseSlack } ?? false
        // Nobody knows when it would have taken more.
        isClear = !isAll || begun <= made / chunk && !isLate
        if isClear {
            if isAll {
                reset()
            } else {
                let first = missed ?? taken / chunk * chunk
                misses = Misses(count: (misses?.count ?? 0) + 1, taken: first, leastDelay: phase)
            }
        }
        return (misses?.count ?? 0) < Self.patience
    }

    /// Restarts with the right times.
    mutating func reset() { misses = nil }
}

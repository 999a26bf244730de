import NowPlaying

/// Compares the frames that the other end has taken with those that are due. It takes whole chunks, one after the
/// other, each when the chunk's first frame is due.
struct SinkPace: Equatable {
    /// Number of consecutive checks at which it had not taken the due number of frames.
    private var misses = 0
    /// Frames that it had taken at the first of these checks; nil: at the last check it had taken the due number.
    private(set) var missed: Int64?
    /// False if the last look said nothing: fewer frames were made than were due.
    private(set) var isClear = true

    /// Seconds after the beginning of a chunk at which to check: a larger delay of the other end is noticed.
    static let margin = 0.0012
    /// Number of failed checks that show other times: a busy machine delays the other end now and then without a change
    /// of its times.
    private static let patience = 2

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
        // Nobody knows when it would have taken more.
        isClear = !isAll || begun <= made / chunk
        if !isClear { return misses < Self.patience }
        if isAll {
            reset()
        } else {
            misses += 1
            missed = missed ?? taken / chunk * chunk
        }
        return misses < Self.patience
    }

    /// Restarts with the right times.
    mutating func reset() {
        misses = 0
        missed = nil
    }
}

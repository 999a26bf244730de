import Glibc

/// Processor time that the songs of a query may take on its thread. A count of steps would not do: a step of a pattern can pass
/// over a whole text.
final class ProcessorBudget {
    /// Nanoseconds of the whole query.
    private var left: Int64
    /// Nanoseconds of the thread at which the present song has no time left.
    private var end: Int64 = 0
    private var begin: Int64 = 0
    private var calls = 0
    /// True if a song or the whole query took too long. It stays true.
    private(set) var isOver = false

    /// Nanoseconds of one song.
    static let song: Int64 = 50_000_000
    /// Number of calls of `isSpent` for one look at the clock.
    private static let callsOfLook = 64

    /// A budget of these nanoseconds.
    init(nanoseconds: Int64) { left = nanoseconds }

    /// Begins a song on this thread.
    func beginSong() {
        begin = Self.now
        end = begin + min(left, Self.song)
    }

    /// Ends a song, and returns its nanoseconds.
    func endSong() -> Int64 {
        let used = Self.now - begin
        left -= used
        if left <= 0 { isOver = true }
        return used
    }

    /// True if the present song must end. Cheap: it looks at the clock at some calls alone.
    func isSpent() -> Bool {
        calls += 1
        if calls % Self.callsOfLook == 0, !isOver, Self.now >= end { isOver = true }
        return isOver
    }

    /// Nanoseconds that this thread has run.
    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

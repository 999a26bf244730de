import NowPlaying

/// Decides when a server that seems to have other times than ours is asked for them: once a second, and less often while the
/// answers change nothing although it seems so all the time.
struct QuestionPause: Equatable {
    /// Instant of the last question; nil: none was asked.
    private var asked: MonotonicTime?
    /// Seconds before the next one.
    private var seconds = range.lowerBound
    private static let range = 1.0...64.0

    /// True if nothing was asked yet.
    var isFirst: Bool { asked == nil }

    /// Takes a wish to ask. True: it is asked now. `areNew`: the server kept our times since the last question, so that the
    /// answer to that says nothing about now: fruitless questions on a busy machine do not hide a change.
    mutating func asks(at now: MonotonicTime, areNew: Bool) -> Bool {
        if areNew { seconds = Self.range.lowerBound }
        if let asked, now.seconds(since: asked) < seconds { return false }
        asked = now
        return true
    }

    /// Takes an answer, which changed our times or did not.
    mutating func answered(isChange: Bool) {
        seconds = isChange ? Self.range.lowerBound : min(2 * seconds, Self.range.upperBound)
    }
}

import NowPlaying

/// Decides when a server that seems to have other times than ours is asked for them.
///
/// It is asked once a second. An answer that changes nothing may be older than the change that shows: two more questions follow
/// early, and then rarer ones while it seems so all the time. A question without an answer about now is repeated a few times.
struct QuestionPause: Equatable {
    /// Instant of the last request; nil: none was sent.
    private var asked: MonotonicTime?
    /// Answers in a row that changed nothing.
    private var fruitless = 0
    /// Questions in a row without an answer about now.
    private var unanswered = 0
    /// Seconds between two questions at most.
    private let longest: Double

    /// Seconds between two questions, and before one that follows early.
    private static let usual = 1.0
    private static let early = 0.25
    /// Early questions in a row after answers that changed nothing, and after none.
    private static let mostEarly = 2
    private static let mostRepeated = 4

    /// Nothing was asked yet. `longest`: seconds between two questions at most.
    init(longest: Double = 64) { self.longest = longest }

    /// True if a question is due without any sign of other times: the first one, or the last one again.
    var isDue: Bool { asked == nil || isRepeated }
    private var isRepeated: Bool { 1...Self.mostRepeated ~= unanswered }

    /// Seconds before the next question.
    private var seconds: Double {
        if isRepeated || 1...Self.mostEarly ~= fruitless { return Self.early }
        let doublings = min(max(0, fruitless - Self.mostEarly), 6)
        return min(Self.usual * Double(1 << doublings), longest)
    }

    /// True if a request must be sent now; if so, it counts as sent. `areNew`: the server has kept our times since the
    /// last request, so that its answer says nothing about the present, and the pause is the shortest again: fruitless
    /// requests on a busy machine must not hide a change.
    mutating func asks(at now: MonotonicTime, areNew: Bool) -> Bool {
        if areNew { fruitless = 0 }
        if let asked, now.seconds(since: asked) < seconds { return false }
        asked = now
        return true
    }

    /// Takes an answer; nil: there was none.
    mutating func answered(_ answer: SinkAnswer?) {
        switch answer {
        case .other: (fruitless, unanswered) = (0, 0)
        case .same: (fruitless, unanswered) = (fruitless + 1, 0)
        case .old, nil: unanswered += 1
        }
    }
}

import NowPlaying

/// Times of the requests to a server that seems to have other times than ours.
///
/// A request is sent once a second. An answer that changes nothing may be older than the visible change: two more requests
/// follow early, and rarer ones later while the server still seems to have other times. A request without an answer about now is
/// repeated a few times.
struct QuestionPause: Equatable {
    /// Instant of the last request; nil: none was sent.
    private var asked: MonotonicTime?
    /// Answers in a row that changed nothing.
    private var fruitless = 0
    /// Requests in a row without an answer about now.
    private var unanswered = 0
    /// Longest time between two requests in seconds.
    private let longest: Double

    /// Seconds between two requests, and before an early one.
    private static let usual = 1.0
    private static let early = 0.25
    /// Number of early requests in a row after answers that changed nothing, and after no answer.
    private static let mostEarly = 2
    private static let mostRepeated = 4

    /// No request was sent yet. `longest`: longest time between two requests in seconds.
    init(longest: Double = 64) { self.longest = longest }

    /// True if a request is due without any sign of other times: the first one, or the last one again.
    var isDue: Bool { asked == nil || isRepeated }
    private var isRepeated: Bool { 1...Self.mostRepeated ~= unanswered }

    /// Seconds before the next request.
    private var seconds: Double {
        if isRepeated || 1...Self.mostEarly ~= fruitless { return Self.early }
        let doublings = min(max(0, fruitless - Self.mostEarly), 6)
        return min(Self.usual * Double(1 << doublings), longest)
    }

    /// True if a request must be sent now; if so, it counts as sent. `areNew`: the server has kept our times since the
    /// last request, so that its answer says nothing about the present. The pause is then the shortest again: useless
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

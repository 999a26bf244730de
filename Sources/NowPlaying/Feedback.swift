/// What is remembered of an item: what its listeners think of it, and how it was heard before this time.
package struct Feedback: Equatable, Sendable {
    /// 0…5; nil: nobody gave one.
    package var rating: Double?
    package var isLiked = false
    package var isDisliked = false
    /// Seconds of content where a listener wants it to go on.
    package var bookmark: Double?
    /// Seconds of content where it was left in the middle; nil: it was not, or that is not kept.
    package var left: Double?
    /// How many times it was heard to its end.
    package var playCount = 0
    /// How many times somebody went on to the next before its end.
    package var skipCount = 0
    /// Unix time, seconds, when it was heard last, before this time.
    package var lastPlayed: Double?

    /// Nothing is remembered.
    package init() {}

    /// Where play of it goes on; nil: at its beginning.
    package var resumePosition: Double? { bookmark ?? left }

    /// Whether somebody said something about it.
    package var isSaid: Bool { rating != nil || isLiked || isDisliked || bookmark != nil }

    /// Which of the commands `like`, `dislike` and `bookmark` are active.
    package var activeCommands: Set<RemoteCommand> {
        var result: Set<RemoteCommand> = []
        if isLiked { result.insert(.like) }
        if isDisliked { result.insert(.dislike) }
        if bookmark != nil { result.insert(.bookmark) }
        return result
    }
}

/// Saved opinions of listeners about an item, and its earlier playback.
package struct Feedback: Equatable, Sendable {
    /// 0…5; nil: no client gave one.
    package var rating: Double?
    package var isLiked = false
    package var isDisliked = false
    /// Resume position of a listener in seconds of content.
    package var bookmark: Double?
    /// Seconds of content at which the listener left the item in its middle; nil: never, or the position is not kept.
    package var left: Double?
    /// Number of plays to the end.
    package var playCount = 0
    /// Number of skips to the next item before its end.
    package var skipCount = 0
    /// Unix time of the previous play in seconds.
    package var lastPlayed: Double?

    /// No feedback.
    package init() {}

    /// Position at which it resumes, in seconds of content; nil: its beginning.
    package var resumePosition: Double? { bookmark ?? left }

    /// True if a listener has expressed an opinion.
    package var isSaid: Bool { rating != nil || isLiked || isDisliked || bookmark != nil }

    /// Active commands among `like`, `dislike` and `bookmark`.
    package var activeCommands: Set<RemoteCommand> {
        var result: Set<RemoteCommand> = []
        if isLiked { result.insert(.like) }
        if isDisliked { result.insert(.dislike) }
        if bookmark != nil { result.insert(.bookmark) }
        return result
    }
}

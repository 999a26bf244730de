import LinuxSystem
package import NowPlaying

/// Everybody who listens to a player or answers its questions. All of it is called on the loop.
package struct PlayerListeners {
    /// Called with each state as it is published.
    package var onPublish: (@PlayerLoop (NowPlayingState) -> Void)?
    /// Answers the pictures of an item that are known by now; nil: nobody looks for any.
    package var artworkOf: (@PlayerLoop (ItemID) -> [Artwork])?
    /// Answers the feedback of the item of a state that is about to be published; nil: none, or not known yet.
    package var feedbackOf: (@PlayerLoop (NowPlayingState) -> Feedback?)?
    /// Answers the kind of an entry, where commands depend on it; nil: they don't.
    package var kindOf: (@PlayerLoop (QueueEntry) -> MediaType)?
    /// Called when an announcement is about to be audible, and (nil) when the last one was.
    package var onAnnouncement: (@PlayerLoop (Announcement?) -> Void)?
    /// Called when an item is asked for that was not shown before: its feedback is needed soon.
    package var onAsked: (@PlayerLoop (ItemID) -> Void)?
    /// Called with a line for the log: the fault of an item.
    package var onItemFailure: (@PlayerLoop (_ uri: String, _ message: String) -> Void)?
    /// Called with a line for the log: an item whose medium is away.
    package var onMediaAway: (@PlayerLoop (_ uri: String, _ message: String) -> Void)?
    /// Called with a line for the log: a live stream that broke off and is opened again.
    package var onStreamLost: (@PlayerLoop (_ uri: String, _ message: String) -> Void)?
}

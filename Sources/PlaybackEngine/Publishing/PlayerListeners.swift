import LinuxSystem
package import NowPlaying

/// Listeners of a player and sources of its facts. All are called on the loop.
package struct PlayerListeners {
    /// Called with each published state.
    package var onPublish: (@PlayerLoop (NowPlayingState) -> Void)?
    /// Returns the known pictures of an item; nil: no lookup.
    package var artworkOf: (@PlayerLoop (ItemID) -> [Artwork])?
    /// Returns the feedback of the item of a state before its publication; nil: none, or unknown yet.
    package var feedbackOf: (@PlayerLoop (NowPlayingState) -> Feedback?)?
    /// Returns the kind of an entry if commands depend on it; nil: they do not.
    package var kindOf: (@PlayerLoop (QueueEntry) -> MediaType)?
    /// Called before an announcement becomes audible, and (nil) after the last one.
    package var onAnnouncement: (@PlayerLoop (Announcement?) -> Void)?
    /// Called when a client requests an item that was not shown before: its feedback is needed soon.
    package var onAsked: (@PlayerLoop (ItemID) -> Void)?
    /// Called with a log line about a faulty item.
    package var onItemFailure: (@PlayerLoop (_ uri: String, _ message: String) -> Void)?
    /// Called with a log line about an item whose medium is missing.
    package var onMediaAway: (@PlayerLoop (_ uri: String, _ message: String) -> Void)?
    /// Called with a log line about a live stream that broke and is opened again.
    package var onStreamLost: (@PlayerLoop (_ uri: String, _ message: String) -> Void)?
}

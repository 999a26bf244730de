import LinuxSystem
import NowPlaying
import PlaybackEngine

/// What plays, as far as its pictures go.
@PlayerLoop protocol ArtworkSubject: AnyObject {
    /// What was published last.
    var state: NowPlayingState { get }
    /// Answers the pictures of an item that are known by now; nil: nobody looks for any.
    var artworkOf: (@PlayerLoop (ItemID) -> [Artwork])? { get set }
    /// What is known of an item; nil: there is no such item any more.
    func entry(of item: ItemID) -> QueueEntry?
    /// A picture of an item is known now, or is no more: tells it where that is news.
    func artworkFound(for item: ItemID)
}

extension Player: ArtworkSubject {
    func entry(of item: ItemID) -> QueueEntry? { queue[item] }
}

package import LinuxSystem
package import NowPlaying
package import PlaybackEngine

/// A player, as far as its pictures go.
@PlayerLoop package protocol ArtworkSubject: AnyObject {
    /// Last published state.
    var state: NowPlayingState { get }
    /// Answers the pictures of an item that are known by now; nil: nobody looks for any.
    var artworkOf: (@PlayerLoop (ItemID) -> [Artwork])? { get set }
    /// Entry of an item; nil: there is no such item any more.
    func entry(of item: ItemID) -> QueueEntry?
    /// Publishes a new or lost picture of an item.
    func artworkFound(for item: ItemID)
}

extension Player: ArtworkSubject {
    package var artworkOf: (@PlayerLoop (ItemID) -> [Artwork])? {
        get { listeners.artworkOf }
        set { listeners.artworkOf = newValue }
    }

    package func entry(of item: ItemID) -> QueueEntry? { queue[item] }
}

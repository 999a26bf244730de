package import LinuxSystem
package import NowPlaying
package import PlaybackEngine

/// A player as the source of pictures.
@PlayerLoop package protocol ArtworkSubject: AnyObject {
    /// Last published state.
    var state: NowPlayingState { get }
    /// Sets the function that returns the known pictures of an item.
    func takeArtwork(from answer: @escaping @PlayerLoop (ItemID) -> [Artwork])
    /// Entry of an item; nil: the item no longer exists.
    func entry(of item: ItemID) -> QueueEntry?
    /// Publishes a new or lost picture of an item.
    func artworkFound(for item: ItemID)
}

extension Player: ArtworkSubject {
    package func takeArtwork(from answer: @escaping @PlayerLoop (ItemID) -> [Artwork]) {
        listen { $0.artworkOf = answer }
    }

    package func entry(of item: ItemID) -> QueueEntry? { queue[item] }
}

package import LinuxSystem
package import NowPlaying
package import PlaybackEngine

/// A player, as far as its pictures go.
@PlayerLoop package protocol ArtworkSubject: AnyObject {
    /// Last published state.
    var state: NowPlayingState { get }
    /// Has `answer` give the pictures of an item that are known by now.
    func takeArtwork(from answer: @escaping @PlayerLoop (ItemID) -> [Artwork])
    /// Entry of an item; nil: there is no such item any more.
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

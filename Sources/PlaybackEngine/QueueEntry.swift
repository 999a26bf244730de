package import AudioCore
package import NowPlaying

/// One entry of the queue.
package struct QueueEntry: Sendable {
    package let id: ItemID
    package let source: MediaSource
    package var details: ItemDetails?

    /// An entry with this identity.
    package init(id: ItemID, source: MediaSource, details: ItemDetails? = nil) {
        self.id = id
        self.source = source
        self.details = details
    }
}

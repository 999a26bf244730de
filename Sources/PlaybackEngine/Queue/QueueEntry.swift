package import AudioCore
package import NowPlaying

/// One entry of the queue.
package struct QueueEntry: Sendable {
    package let id: ItemID
    package let source: MediaSource
    package var details: ItemDetails?

    /// Bytes of its texts and of its path or address, as clients and files gave them.
    package var textBytes: Int { Self.textBytes(source, details) }

    /// Bytes of the texts and of the path or address that an entry of these would have.
    static func textBytes(_ source: MediaSource, _ details: ItemDetails?) -> Int {
        (details?.textBytes ?? 0) + source.nameBytes
    }

    /// An entry with this identity.
    package init(id: ItemID, source: MediaSource, details: ItemDetails? = nil) {
        self.id = id
        self.source = source
        self.details = details
    }
}

package import AudioCore
package import NowPlaying

/// One entry of the queue.
package struct QueueEntry: Sendable {
    package let id: ItemID
    package let source: MediaSource
    package var details: ItemDetails?

    /// Size of its texts and of its path or address in bytes.
    package var textBytes: Int { Self.textBytes(source, details) }

    /// Size of the texts and of the path or address of such an entry in bytes.
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

package import AudioCore
package import NowPlaying

/// One entry of the queue.
package struct QueueEntry: Sendable {
    package let id: ItemID
    package let source: MediaSource
    package var details: ItemDetails?

    /// Bytes of its texts and of its address on the network, as clients and files gave them.
    package var textBytes: Int { Self.textBytes(source, details) }

    /// Bytes of the texts and of the address on the network that an entry of these would have.
    static func textBytes(_ source: MediaSource, _ details: ItemDetails?) -> Int {
        let texts = details?.textBytes ?? 0
        guard case .remote(let media) = source else { return texts }
        return texts + media.address.utf8.count + media.shownAddress.utf8.count
    }

    /// An entry with this identity.
    package init(id: ItemID, source: MediaSource, details: ItemDetails? = nil) {
        self.id = id
        self.source = source
        self.details = details
    }
}

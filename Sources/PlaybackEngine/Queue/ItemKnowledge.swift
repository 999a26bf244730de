import AudioCore
import LinuxSystem
import NowPlaying

/// Takes what files say about themselves into the queue, and forgets it again where a long queue would grow without bound.
@PlayerLoop final class ItemKnowledge {
    private unowned let player: Player
    /// The items that were opened last, the newest at the end.
    private var recent: [ItemID] = []

    /// Items opened last whose texts are all kept, and those of which lists show the title.
    private static let rememberedItems = 64
    private static let listedItems = 1000

    /// Nothing was opened yet.
    init(_ player: Player) { self.player = player }

    /// Keeps what the file of an item says about itself.
    func learn(_ item: OpenedItem) {
        let known = player.queue[item.id]?.details
        let details = ItemDetails(
            given: named(item, known), found: found(item, known),
            duration: item.length.map { item.format.seconds(frames: $0) }, format: item.mediaFormat,
            isSeekable: item.isSeekable,
            isRepeatable: known.map { $0 === ItemDetails.unknown || $0.isRepeatable } ?? true)
        player.decide { $0.setDetails(details, of: item.id) }
        remember(item.id)
    }

    /// Keeps the tags of an item that was not opened.
    func learn(_ metadata: MediaMetadata, of entry: QueueEntry) {
        let known = entry.details
        let found = metadata.filled(from: known?.found ?? MediaMetadata())
        let details = ItemDetails(
            given: known?.given ?? MediaMetadata(), found: found, duration: known?.mediaDuration,
            isRepeatable: known.map { $0 === ItemDetails.unknown || $0.isRepeatable } ?? true)
        player.decide { $0.setDetails(details, of: entry.id) }
        remember(entry.id)
    }

    /// The name of a station in a list is as good as one that a client gives.
    private func named(_ item: OpenedItem, _ known: ItemDetails?) -> MediaMetadata {
        var given = known?.given ?? MediaMetadata()
        if item.isLive, known?.found.isLiveStream != true { given.title = given.title ?? known?.found.title }
        return given
    }

    /// Tags of the item, and those of a list where it has none.
    private func found(_ item: OpenedItem, _ known: ItemDetails?) -> MediaMetadata {
        item.isLive ? item.metadata : item.metadata.filled(from: known?.found ?? MediaMetadata())
    }

    private func remember(_ id: ItemID) {
        recent.removeAll { $0 == id }
        recent.append(id)
        guard recent.count > Self.rememberedItems else { return }
        let index = recent.count - Self.rememberedItems - 1
        let shown = player.publisher.shown?.id
        if let old = player.queue[recent[index]], old.id != shown, let reduced = old.details?.reduced() {
            player.decide { $0.setDetails(reduced, of: old.id) }
        }
        guard index >= Self.listedItems else { return }
        let last = recent.removeFirst()
        if last != shown, player.queue[last]?.details?.isRepeatable == true {
            player.decide { $0.setDetails(.unknown, of: last) }
        }
    }

    /// A file that promised another length than it has is published with the length that it has, in frames.
    func correctLength(_ item: OpenedItem, _ length: Int64) {
        guard !item.isLive, item.length != length, let details = player.queue[item.id]?.details else { return }
        let corrected = ItemDetails(
            given: details.given, found: details.found, duration: item.format.seconds(frames: length),
            format: details.format, isSeekable: details.isSeekable, isRepeatable: details.isRepeatable)
        player.decide { $0.setDetails(corrected, of: item.id) }
        guard player.publisher.shown?.id == item.id, player.playout.pending == nil else { return }
        player.publisher.refreshShown()
        player.publisher.publish(.metadata)
    }
}

import AudioCore
import LinuxSystem
import NowPlaying

/// Stores facts from files in the queue and reduces them again, so that a long queue does not grow without bound.
@PlayerLoop final class ItemKnowledge {
    private unowned let player: Player
    /// Recently opened items, the newest last.
    private var recent: [ItemID] = []

    /// Number of recently opened items that keep all texts, and of those that keep their listed texts.
    private static let rememberedItems = 64
    private static let listedItems = 1000

    /// Before any item was opened.
    init(_ player: Player) { self.player = player }

    /// Stores the facts from an item's file.
    func learn(_ item: OpenedItem) {
        // The open file has more facts than a read of its tags.
        let known = player.queue[item.id]?.details.map { $0.beforeRead ?? $0 }
        let details = ItemDetails(
            given: named(item, known), found: found(item, known),
            duration: item.length.map { item.format.seconds(frames: $0) }, format: item.mediaFormat,
            isSeekable: item.isSeekable,
            isRepeatable: known.map { $0 === ItemDetails.unknown || $0.isRepeatable } ?? true,
            hasOwnPictures: known?.hasOwnPictures ?? false)
        player.decide { $0.setDetails(details, of: item.id) }
        player.titles.opened(item.id)
        remember(item.id)
    }

    /// Stores the tags of an item that was not opened.
    func learn(_ metadata: MediaMetadata, of entry: QueueEntry) {
        let known = entry.details
        let found = metadata.filled(from: known?.found ?? MediaMetadata())
        let details = ItemDetails(
            given: known?.given ?? MediaMetadata(), found: found, duration: known?.mediaDuration,
            isRepeatable: known.map { $0 === ItemDetails.unknown || $0.isRepeatable } ?? true,
            hasOwnPictures: known?.hasOwnPictures ?? false)
        player.decide { $0.setDetails(details, of: entry.id) }
        remember(entry.id)
    }

    /// A station's name in a list counts like one by a client.
    private func named(_ item: OpenedItem, _ known: ItemDetails?) -> MediaMetadata {
        var given = known?.given ?? MediaMetadata()
        if item.isLive, known?.found.isLiveStream != true { given.title = given.title ?? known?.found.title }
        return given
    }

    /// Tags of the item; those of a list where the item has none.
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

    /// Publishes the actual length in frames of a file that announced another one.
    func correctLength(_ item: OpenedItem, _ length: Int64) {
        guard !item.isLive, item.length != length, let details = player.queue[item.id]?.details else { return }
        let corrected = ItemDetails(
            given: details.given, found: details.found, duration: item.format.seconds(frames: length),
            format: details.format, isSeekable: details.isSeekable, isRepeatable: details.isRepeatable,
            hasOwnPictures: details.hasOwnPictures)
        player.decide { $0.setDetails(corrected, of: item.id) }
        guard player.publisher.shown?.id == item.id, player.playout.pending == nil else { return }
        player.publisher.refreshShown()
        player.publisher.publish(.metadata)
    }
}

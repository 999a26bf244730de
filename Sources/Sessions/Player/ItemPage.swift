import AudioCore
import ControlProtocol
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// Writes the items of one answer to `queue.list`, each with the keys that the client named.
@PlayerLoop struct ItemPage {
    /// Bytes of the items of a page. A page has at least one item, however long that is.
    static let bytes = 192 << 10

    private let player: Player
    private let fields: [ItemField]

    /// A page of the items of this player. `fields` are in the order of writing.
    init(_ player: Player, _ fields: [ItemField]) {
        self.player = player
        self.fields = fields
    }

    /// An item of the page. Most pages name few fields, and metadata are unpacked for those that need them.
    private struct Item {
        let entry: QueueEntry
        lazy var metadata = entry.details?.metadata

        init(_ entry: QueueEntry) { self.entry = entry }
    }

    /// Writes the items in the range until the page is full. Returns the index after the last one.
    func write(_ range: Range<Int>, to writer: inout JSONWriter) -> Int {
        let start = writer.bytes.count
        let entries = player.queue.entries
        // The state knows more about the current item: its feedback and chapter.
        let current = player.state.item
        for index in range {
            let end = writer.bytes.count
            var item = Item(entries[index])
            let shown = current?.id == item.entry.id ? current : nil
            writer.beginObject()
            for field in fields { write(field, &item, shown, to: &writer) }
            writer.endObject()
            guard writer.bytes.count - start > Self.bytes, index > range.lowerBound else { continue }
            writer.shorten(to: end)
            return index
        }
        return range.upperBound
    }

    private func write(
        _ field: ItemField, _ item: inout Item, _ shown: NowPlayingItem?, to writer: inout JSONWriter
    ) {
        let entry = item.entry
        switch field {
        case .id: writer.member("id", Int(entry.id.number))
        case .play: writer.member("play", player.playCount(of: entry.id))
        case .uri: writer.member("uri", entry.source.uri)
        case .title: writer.member("title", item.metadata?.title ?? entry.source.displayName)
        case .subtitle: writer.member("subtitle", item.metadata?.subtitle)
        case .artist: writer.member("artist", item.metadata?.artist)
        case .artists: StateEncoder.artists(&writer, item.metadata?.artists ?? [])
        case .albumTitle: writer.member("albumTitle", item.metadata?.albumTitle)
        case .albumArtist: writer.member("albumArtist", item.metadata?.albumArtist)
        case .composer: writer.member("composer", item.metadata?.composer)
        case .genre: writer.member("genre", item.metadata?.genre)
        case .trackNumber: writer.member("trackNumber", item.metadata?.trackNumber)
        case .trackCount: writer.member("trackCount", item.metadata?.trackCount)
        case .discNumber: writer.member("discNumber", item.metadata?.discNumber)
        case .discCount: writer.member("discCount", item.metadata?.discCount)
        case .releaseDate: writer.member("releaseDate", item.metadata?.releaseDate)
        case .isrc: writer.member("isrc", item.metadata?.isrc)
        case .description: writer.member("description", item.metadata?.summary)
        case .contentRating: writer.member("contentRating", item.metadata?.contentRating)
        case .show: writer.member("show", item.metadata?.show)
        case .language: writer.member("language", item.metadata?.language)
        case .isExplicit: writer.member("isExplicit", item.metadata?.isExplicit)
        case .mediaType: writer.member("mediaType", (item.metadata?.mediaType ?? .audio).rawValue)
        case .isLiveStream: writer.member("isLiveStream", item.metadata?.isLiveStream)
        case .defaultRate: writer.member("defaultRate", item.metadata?.defaultRate)
        case .artworkUrl: writer.member("artworkUrl", item.metadata?.artworkURL)
        case .chapters: StateEncoder.chapters(&writer, item.metadata?.chapters ?? [], limit: StateEncoder.listLimit)
        case .chapterIndex: writer.member("chapterIndex", shown?.chapterIndex)
        case .adTimeRanges:
            StateEncoder.adTimeRanges(&writer, item.metadata?.adTimeRanges ?? [], limit: StateEncoder.listLimit)
        case .texts: StateEncoder.texts(&writer, item.metadata?.texts ?? [])
        case .duration: writer.member("duration", entry.details?.duration)
        case .isLiked: writer.member("isLiked", shown?.feedback?.isLiked)
        case .isDisliked: writer.member("isDisliked", shown?.feedback?.isDisliked)
        case .rating: writer.member("rating", shown?.feedback?.rating)
        case .bookmark: writer.member("bookmark", shown?.feedback?.bookmark)
        case .playCount: writer.member("playCount", shown?.feedback?.playCount)
        case .skipCount: writer.member("skipCount", shown?.feedback?.skipCount)
        case .lastPlayed: writer.member("lastPlayed", shown?.feedback?.lastPlayed)
        case .artwork: StateEncoder.artwork(&writer, player.artwork(of: entry.id))
        case .priority: writer.member("priority", player.queue.priorities[entry.id].map(Int.init))
        case .format: StateEncoder.format(&writer, entry.details?.format)
        }
    }
}

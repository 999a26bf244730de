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

    /// Writes the items in the range until the page is full. Returns the index after the last one.
    func write(_ range: Range<Int>, to writer: inout JSONWriter) -> Int {
        let start = writer.bytes.count
        for index in range {
            let end = writer.bytes.count
            item(player.queue.entries[index], to: &writer)
            guard writer.bytes.count - start > Self.bytes, index > range.lowerBound else { continue }
            writer.shorten(to: end)
            return index
        }
        return range.upperBound
    }

    private func item(_ entry: QueueEntry, to writer: inout JSONWriter) {
        // The state knows more about the current item: its feedback and chapter.
        let shown = player.state.item.flatMap { $0.id == entry.id ? $0 : nil }
        let details = entry.details
        let metadata = details?.metadata
        writer.beginObject()
        for field in fields { write(field, entry, metadata, shown, to: &writer) }
        writer.endObject()
    }

    private func write(
        _ field: ItemField, _ entry: QueueEntry, _ metadata: MediaMetadata?, _ shown: NowPlayingItem?,
        to writer: inout JSONWriter
    ) {
        switch field {
        case .id: writer.member("id", Int(entry.id.number))
        case .play: writer.member("play", player.playCount(of: entry.id))
        case .uri: writer.member("uri", entry.source.uri)
        case .title: writer.member("title", metadata?.title ?? entry.source.displayName)
        case .subtitle: writer.member("subtitle", metadata?.subtitle)
        case .artist: writer.member("artist", metadata?.artist)
        case .artists: StateEncoder.artists(&writer, metadata?.artists ?? [])
        case .albumTitle: writer.member("albumTitle", metadata?.albumTitle)
        case .albumArtist: writer.member("albumArtist", metadata?.albumArtist)
        case .composer: writer.member("composer", metadata?.composer)
        case .genre: writer.member("genre", metadata?.genre)
        case .trackNumber: writer.member("trackNumber", metadata?.trackNumber)
        case .trackCount: writer.member("trackCount", metadata?.trackCount)
        case .discNumber: writer.member("discNumber", metadata?.discNumber)
        case .discCount: writer.member("discCount", metadata?.discCount)
        case .releaseDate: writer.member("releaseDate", metadata?.releaseDate)
        case .isrc: writer.member("isrc", metadata?.isrc)
        case .description: writer.member("description", metadata?.summary)
        case .contentRating: writer.member("contentRating", metadata?.contentRating)
        case .show: writer.member("show", metadata?.show)
        case .language: writer.member("language", metadata?.language)
        case .isExplicit: writer.member("isExplicit", metadata?.isExplicit)
        case .mediaType: writer.member("mediaType", (metadata?.mediaType ?? .audio).rawValue)
        case .isLiveStream: writer.member("isLiveStream", metadata?.isLiveStream)
        case .defaultRate: writer.member("defaultRate", metadata?.defaultRate)
        case .artworkUrl: writer.member("artworkUrl", metadata?.artworkURL)
        case .chapters: StateEncoder.chapters(&writer, metadata?.chapters ?? [], limit: StateEncoder.listLimit)
        case .chapterIndex: writer.member("chapterIndex", shown?.chapterIndex)
        case .adTimeRanges:
            StateEncoder.adTimeRanges(&writer, metadata?.adTimeRanges ?? [], limit: StateEncoder.listLimit)
        case .texts: StateEncoder.texts(&writer, metadata?.texts ?? [])
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

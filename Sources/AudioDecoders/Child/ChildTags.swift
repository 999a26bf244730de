import AudioCore
import ChildDecoding
import NowPlaying
import TrackReading

/// Conversion of a child's tags to the daemon's metadata.
enum ChildTags {
    /// Metadata from these tags. In a live stream the station's name is the album.
    static func metadata(_ tags: [WireTag], isLive: Bool) -> MediaMetadata {
        var fields = TagFields()
        var station: [String: String] = [:]
        for tag in tags {
            let text = TagText.text(tag.value)
            // Tags of the title come before those of the station.
            if own.contains(tag.name), station[tag.name] == nil { station[tag.name] = text }
            // The container and the stream often have the same tags.
            if let text, fields.values[tag.name]?.contains(text) != true { fields.add(tag.name, text) }
        }
        var result = fields.metadata
        guard isLive else { return result }
        result.isLiveStream = true
        result.albumTitle = result.albumTitle ?? station["STATION"]
        result.title = result.title ?? station["STATION"]
        if let address = station["ARTWORK"], isAddress(address) { result.artworkURL = address }
        return result
    }

    /// These chapters, in order.
    static func chapters(_ chapters: [WireChapter]) -> [Chapter] {
        chapters.prefix(Chapter.limit)
            .map { Chapter(start: Double($0.start) / 1_000_000, title: TagText.text($0.title)) }
            .sorted { $0.start < $1.start }
    }

    /// Tags of a station that hold for all its items.
    static let own: Set<String> = ["STATION", "STATIONURL", "ARTWORK"]

    private static func isAddress(_ text: String) -> Bool {
        (text.hasPrefix("http://") || text.hasPrefix("https://")) && text.allSatisfy { $0 > " " && $0.isASCII }
    }
}

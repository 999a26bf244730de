/// Keys of an item on the wire, which `queue.list` can name.
package enum ItemField: String, CaseIterable, Sendable {
    case id, play, uri, title, subtitle, artist, artists, albumTitle, albumArtist, composer, genre, trackNumber
    case trackCount, discNumber, discCount, releaseDate, isrc, description, contentRating, show, language, isExplicit,
        mediaType
    case isLiveStream, defaultRate, artworkUrl, chapters, chapterIndex, adTimeRanges, texts, duration
    case isLiked, isDisliked, rating, bookmark, playCount, skipCount, lastPlayed, artwork, format, priority

    /// Keys in the answer of `queue.list` if the client names none.
    package static let usual: [ItemField] = [.id, .uri, .title, .artist, .albumTitle, .duration]

    /// Fields without repetitions, each at its first occurrence.
    package static func distinct(_ fields: [ItemField]) -> [ItemField] {
        var seen: Set<ItemField> = []
        return fields.filter { seen.insert($0).inserted }
    }
}

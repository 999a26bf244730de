/// A hit of a search.
package struct SearchHit: Equatable, Sendable {
    package var kind: SearchKind
    /// The tag with the text; nil for a folder. An artist may be found as a composer.
    package var tag: TrackTag?
    /// The matching text: an artist, a title, the name of a folder.
    package var text: String
    /// Number of the album or of the track, for these kinds; else 0.
    package var id: Int64
    /// The path, for a folder.
    package var path: [UInt8]
    /// Its present tracks.
    package var tracks: Int64
    /// The rank of the text, see `SearchRank`.
    package var rank: SearchRank
}

/// A rank of a match; the best first.
package enum SearchRank: UInt8, Comparable, Sendable {
    /// The text equals the search text.
    case whole
    /// The text begins with the search text, as whole words.
    case firstWords
    /// The text begins with the search text.
    case beginning
    /// The text has each searched word as a whole word.
    case words
    /// The text has words that begin with each searched word.
    case wordBeginnings
    /// The artists, the album and the title of a track or an album together have each searched word as a whole word.
    case fieldWords
    /// The artists, the album and the title of a track or an album together have words that begin with each searched
    /// word.
    case fieldBeginnings
    /// The text contains the search text.
    case anywhere

    package static func < (one: SearchRank, other: SearchRank) -> Bool { one.rawValue < other.rawValue }
}

/// Something that a search found.
package struct SearchHit: Equatable, Sendable {
    package var kind: SearchKind
    /// The tag that has the text; nil for a folder. An artist may be found as a composer.
    package var tag: TrackTag?
    /// The text that was found: an artist, a title, the name of a folder.
    package var text: String
    /// The album, for that kind; the track, for that kind; else 0.
    package var id: Int64
    /// The path, for a folder.
    package var path: [UInt8]
    /// Tracks of it that are there.
    package var tracks: Int64
    /// The place of the text in the order of answers, see `SearchRank`.
    package var rank: SearchRank
}

/// A grade of fitness of a text for a search; the best first.
package enum SearchRank: UInt8, Comparable, Sendable {
    /// It is the text searched for.
    case whole
    /// It begins with it, as whole words.
    case firstWords
    /// It begins with it.
    case beginning
    /// It has each searched word as a whole word.
    case words
    /// It has words that begin with each searched word.
    case wordBeginnings
    /// The words of a track or an album have each searched word as a whole: of its artists, its album and its title.
    case fieldWords
    /// The words of a track or an album have words that begin with each searched word: of its artists, its album and its title.
    case fieldBeginnings
    /// The text stands anywhere in it.
    case anywhere

    package static func < (one: SearchRank, other: SearchRank) -> Bool { one.rawValue < other.rawValue }
}

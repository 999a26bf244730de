/// A tag of MPD's protocol, in the order of its song blocks. The raw value is its name there: clients compare its bytes.
package enum MPDTag: String, CaseIterable, Sendable {
    case artist = "Artist"
    case artistSort = "ArtistSort"
    case album = "Album"
    case albumSort = "AlbumSort"
    case albumArtist = "AlbumArtist"
    case albumArtistSort = "AlbumArtistSort"
    case title = "Title"
    case titleSort = "TitleSort"
    case track = "Track"
    /// The name of a station.
    case name = "Name"
    case genre = "Genre"
    case mood = "Mood"
    case date = "Date"
    case originalDate = "OriginalDate"
    case composer = "Composer"
    case composerSort = "ComposerSort"
    case performer = "Performer"
    case conductor = "Conductor"
    case work = "Work"
    case movement = "Movement"
    case movementNumber = "MovementNumber"
    /// A flag in files of Apple's: the work and its movement replace the title.
    case showMovement = "ShowMovement"
    case ensemble = "Ensemble"
    case location = "Location"
    case grouping = "Grouping"
    case comment = "Comment"
    case disc = "Disc"
    case discSubtitle = "DiscSubtitle"
    case label = "Label"
    // These tags come last, as some old parsers stop at the first of them.
    case musicBrainzArtistId = "MUSICBRAINZ_ARTISTID"
    case musicBrainzAlbumId = "MUSICBRAINZ_ALBUMID"
    case musicBrainzAlbumArtistId = "MUSICBRAINZ_ALBUMARTISTID"
    case musicBrainzTrackId = "MUSICBRAINZ_TRACKID"
    case musicBrainzReleaseTrackId = "MUSICBRAINZ_RELEASETRACKID"
    case musicBrainzWorkId = "MUSICBRAINZ_WORKID"
    case musicBrainzReleaseGroupId = "MUSICBRAINZ_RELEASEGROUPID"

    /// The tag of this name, regardless of case; nil: there is none.
    package init?(_ argument: Argument) {
        guard let tag = Self.allCases.first(where: { argument.isWord($0.rawValue) }) else { return nil }
        self = tag
    }

    /// Substitute tags: the first that a song has counts if the song lacks this tag.
    package var substitutes: [MPDTag] {
        switch self {
        case .albumArtist, .artistSort: [.artist]
        case .albumArtistSort: [.albumArtist, .artist]
        case .albumSort: [.album]
        case .titleSort: [.title]
        case .composerSort: [.composer]
        case .artist, .album, .title, .track, .name, .genre, .mood, .date, .originalDate, .composer, .performer,
            .conductor, .work, .movement, .movementNumber, .showMovement, .ensemble, .location, .grouping, .comment,
            .disc,
            .discSubtitle, .label, .musicBrainzArtistId, .musicBrainzAlbumId, .musicBrainzAlbumArtistId,
            .musicBrainzTrackId, .musicBrainzReleaseTrackId, .musicBrainzWorkId, .musicBrainzReleaseGroupId:
            []
        }
    }
}

/// The tags that a connection wants in song blocks: its `tagtypes`.
package struct TagMask: Equatable, Sendable {
    private var bits: UInt64

    /// Every tag.
    package static let all = TagMask(MPDTag.allCases)
    /// No tag.
    package static let none = TagMask([])

    /// These tags.
    package init(_ tags: some Sequence<MPDTag>) { bits = tags.reduce(0) { $0 | Self.bit($1) } }

    /// True if the tag is among them.
    package func contains(_ tag: MPDTag) -> Bool { bits & Self.bit(tag) != 0 }

    /// Adds tags.
    package mutating func enable(_ tags: TagMask) { bits |= tags.bits }

    /// Removes tags.
    package mutating func disable(_ tags: TagMask) { bits &= ~tags.bits }

    /// The tags in their order.
    package var tags: [MPDTag] { MPDTag.allCases.filter(contains) }

    private static let numbers = Dictionary(
        uniqueKeysWithValues: MPDTag.allCases.enumerated().map { ($0.element, UInt64($0.offset)) })

    private static func bit(_ tag: MPDTag) -> UInt64 { 1 << (numbers[tag] ?? 63) }
}

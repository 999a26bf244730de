import MPDProtocol

/// Names of MPD's tags in the library.
enum LibraryTags {
    /// The library's name of a text tag; nil: the library has a number for it, or does not know it.
    static func name(_ tag: MPDTag) -> String? {
        switch tag {
        case .artist: "artist"
        case .artistSort: "artistSort"
        case .album: "album"
        case .albumSort: "albumSort"
        case .albumArtist: "albumArtist"
        case .albumArtistSort: "albumArtistSort"
        case .title: "title"
        case .titleSort: "titleSort"
        case .genre: "genre"
        case .mood: "mood"
        case .date: "date"
        case .originalDate: "originalDate"
        case .composer: "composer"
        case .composerSort: "composerSort"
        case .performer: "performer"
        case .conductor: "conductor"
        case .work: "work"
        case .movement: "movement"
        case .ensemble: "ensemble"
        case .location: "location"
        case .grouping: "grouping"
        case .comment: "comment"
        case .discSubtitle: "discSubtitle"
        case .label: "label"
        case .musicBrainzArtistId: "musicBrainzArtistId"
        case .musicBrainzAlbumId: "musicBrainzAlbumId"
        case .musicBrainzAlbumArtistId: "musicBrainzAlbumArtistId"
        case .musicBrainzTrackId: "musicBrainzRecordingId"
        case .musicBrainzReleaseTrackId: "musicBrainzReleaseTrackId"
        case .musicBrainzWorkId: "musicBrainzWorkId"
        case .musicBrainzReleaseGroupId: "musicBrainzReleaseGroupId"
        case .track, .disc, .movementNumber, .name, .showMovement: nil
        }
    }

    /// True if no song of the library has this tag.
    static func isAbsent(_ tag: MPDTag) -> Bool { name(tag) == nil && number(tag) == nil }

    /// The library's field for a numeric tag; nil: the library has a text for it, or does not know it.
    static func number(_ tag: MPDTag) -> String? {
        switch tag {
        case .track: "trackNumber"
        case .disc: "discNumber"
        case .movementNumber: "movementNumber"
        case _: nil
        }
    }

    /// The numeric field for a tag in filters and orders of the library; nil: there is none.
    static func filteredNumber(_ tag: MPDTag) -> String? { tag == .movementNumber ? nil : number(tag) }

    /// The tag for a name in the library's rows.
    static let tags: [String: MPDTag] = Dictionary(
        uniqueKeysWithValues: MPDTag.allCases.compactMap { tag in (name(tag) ?? number(tag)).map { ($0, tag) } })

    /// Indices of tags in a song's values.
    static let indices: [MPDTag: Int] = Dictionary(
        uniqueKeysWithValues: MPDTag.allCases.enumerated().map { ($0.element, $0.offset) })
}

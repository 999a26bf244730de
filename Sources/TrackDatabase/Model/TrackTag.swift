/// A tag of tracks with text. The database stores the raw value, which never changes.
package enum TrackTag: UInt8, CaseIterable, Sendable {
    case artist = 1
    case artistSort = 2
    case albumArtist = 3
    case albumArtistSort = 4
    case album = 5
    case albumSort = 6
    case composer = 7
    case composerSort = 8
    case conductor = 9
    case performer = 10
    case genre = 11
    case date = 12
    case originalDate = 13
    case label = 14
    case grouping = 15
    case mood = 16
    case work = 17
    case discSubtitle = 18
    case ensemble = 19
    case location = 20
    case musicBrainzArtistId = 21
    case musicBrainzAlbumArtistId = 22
    case musicBrainzAlbumId = 23
    case musicBrainzReleaseGroupId = 24
    // These tags belong to one track: they are not stored with the shared tags of its album.
    case title = 32
    case titleSort = 33
    case movement = 34
    case comment = 35
    case musicBrainzRecordingId = 36
    case musicBrainzReleaseTrackId = 37
    case musicBrainzWorkId = 38

    /// True if tracks of one album rarely share the tag.
    package var isOwn: Bool { rawValue >= TrackTag.title.rawValue }

    /// True if its text is a date, such as `1994` or `1994-05-01`.
    package var isDate: Bool { self == .date || self == .originalDate }

    /// Its bit in the mask of a track's tags.
    var bit: Int64 { 1 << Int64(rawValue) }

    /// Its name in filters.
    package var name: String { String(describing: self) }

    /// The tag with this name in filters; nil: the name is unknown.
    package init?(name: String) {
        guard let tag = Self.byName[name] else { return nil }
        self = tag
    }

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })

    /// Its range in the search indices; nil: it is not searched.
    var searchKind: SearchKind? {
        switch self {
        case .artist, .albumArtist, .composer, .conductor, .performer: .artist
        case .album: .album
        case .title: .track
        case .genre: .genre
        case .artistSort, .albumArtistSort, .albumSort, .composerSort, .date, .originalDate, .label, .grouping, .mood,
            .work, .discSubtitle, .ensemble, .location, .musicBrainzArtistId, .musicBrainzAlbumArtistId,
            .musicBrainzAlbumId, .musicBrainzReleaseGroupId, .titleSort, .movement, .comment, .musicBrainzRecordingId,
            .musicBrainzReleaseTrackId, .musicBrainzWorkId:
            nil
        }
    }
}

/// Kinds of search results. The raw value ranks equal hits.
package enum SearchKind: UInt8, CaseIterable, Sendable {
    case artist = 1
    case album = 2
    case track = 3
    case genre = 4
    case folder = 5

    /// The kinds in the order of their numbers in the search indices. Tracks are the most: a walk of the other kinds
    /// passes none of them.
    static let byDocument: [SearchKind] = [.genre, .folder, .artist, .album, .track]

    /// The number of a row of this kind in the search indices.
    func document(_ id: Int64) -> Int64 { firstDocument | id }

    /// The lowest number of this kind.
    var firstDocument: Int64 {
        switch self {
        case .genre: 1 << 40
        case .folder: 2 << 40
        case .artist: 3 << 40
        case .album: 4 << 40
        case .track: 5 << 40
        }
    }

    /// The number after the last of this kind.
    var endOfDocuments: Int64 { firstDocument + 1 << 40 }

    /// The kind of a number; nil: the number is invalid.
    static func kind(_ document: Int64) -> SearchKind? {
        let place = Int(document >> 40) - 1
        return byDocument.indices.contains(place) ? byDocument[place] : nil
    }

    /// The row part of a number.
    static func id(_ document: Int64) -> Int64 { document & (1 << 40 - 1) }
}

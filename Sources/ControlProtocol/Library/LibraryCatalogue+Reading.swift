extension LibraryCatalogue {
    /// Default rows of a page of tracks.
    package static let usualTracks = 100
    /// Default rows of a page of values or folders.
    package static let usualRows = 1000
    /// Default hits of a search.
    package static let usualHits = 50
    /// Maximum files of one request for tracks.
    package static let mostFiles = 1000
    /// Kinds of hits of a search.
    package static let searchKinds = ["artist", "album", "track", "genre", "folder", "list"]

    /// Tags that have values, by their names in filters.
    private static let tags = ParameterType.choice(
        TrackField.allCases.filter(\.isTag).map(\.rawValue))

    /// Maximum lines of a track's text.
    package static let mostLines = 64
    /// Contents of lines besides the tags.
    package static let lineContents = [
        "path", "pathBelow", "trackNumber", "discNumber", "movementNumber", "duration", "seconds", "format", "added",
        "modified",
    ]

    private static let lines = Parameter.optional(
        "lines",
        .array(
            .object([
                .required("key", .text, "the word before the value, of at most 64 bytes"),
                .required(
                    "field", .choice(TrackField.allCases.filter(\.isTag).map(\.rawValue) + lineContents), "the value"),
            ]), count: 1...mostLines),
        "lines of each track in a text, which comes as an open file")

    private static let page = " A page also ends at 192 KiB."

    static let readingMethods: [Method] = [
        Method(
            name: .libraryQuery, kind: .library, role: .read, reach: .network(.read),
            parameters: [filter, sort, seed, fields, lines, limit(10_000, usual: usualTracks), after],
            exclusive: [["fields", "lines"]],
            help: "Lists the tracks that pass a filter, page by page." + page,
            result:
                "rows, version and, if more follow, next; with lines, count, bytes and descriptor: 0 in the place of rows",
            example: #"{"filter": {"genre": {"is": "Jazz"}}, "sort": ["-date", "album", "discNumber", "trackNumber"]}"#),
        Method(
            name: .libraryCount, kind: .library, role: .read, reach: .network(.read), parameters: [filter],
            help: "Counts the tracks that pass a filter.", result: "tracks, duration in seconds and version",
            example: #"{"filter": {"liked": {"is": true}}}"#),
        Method(
            name: .libraryValues, kind: .library, role: .read, reach: .network(.read),
            parameters: [
                .required("tag", tags, "the tag whose values are listed"), filter,
                .optional(
                    "group", .array(tags, count: 1...4),
                    "part each value by the values of these tags, into at most 500000 rows"),
                limit(10_000, usual: usualRows), after,
            ],
            help: "Lists the values that a tag has, each once, with the tracks that have it." + page,
            result:
                "rows, each with value, tracks, duration and, if asked for, group; version and, if more follow, next",
            example: #"{"tag": "artist", "filter": {"genre": {"is": "Jazz"}}}"#),
        Method(
            name: .libraryBrowse, kind: .library, role: .read, reach: .network(.read),
            parameters: [
                .optional("uri", .uri, "a folder of the library by its uri or path on this host"),
                .optional("path", .text, "the same by its path in the library, as rows show it"), fields,
                limit(10_000, usual: usualRows), after,
            ],
            exclusive: [["uri", "path"]],
            help: "Lists a folder: its folders, then its tracks. Without a folder it lists those of the library."
                + page,
            result: "path, uri, rows (each a folder or a track by its kind), version and, if more follow, next",
            example: #"{"path": "Music/Miles Davis"}"#),
        Method(
            name: .libraryGet, kind: .library, role: .read, reach: .network(.read),
            parameters: [
                .required("uris", .array(.uri, count: 1...mostFiles), "files by their uris or paths"), fields, lines,
            ],
            exclusive: [["fields", "lines"]],
            help: "Returns tracks by their files, those that are missing at present too.",
            result:
                "rows in the order of the uris, null for one that is not in the library, and version; with lines, ends, count, "
                + "bytes and descriptor: 0 in the place of rows",
            example: #"{"uris": ["file:///srv/music/a.flac"]}"#),
        Method(
            name: .libraryComments, kind: .library, role: .read, reach: .network(.read),
            parameters: [.required("uri", .uri, "a file of the library by its uri or path")],
            help:
                "Reads all fields of a file's tags, also those that the library does not keep. Fields that the format has by "
                + "a number have their usual names.",
            result: "comments, each with name and value, in the order of the file",
            example: #"{"uri": "file:///srv/music/a.flac"}"#),
        Method(
            name: .librarySearch, kind: .library, role: .read, reach: .network(.read),
            parameters: [
                .required("text", .text, "words, or their beginnings"),
                .optional(
                    "kinds", .array(.choice(searchKinds), count: 1...searchKinds.count),
                    "kinds of things to find; default: all"),
                limit(1000, usual: usualHits), fields,
            ],
            help:
                "Finds artists, albums, tracks, genres and folders, those first that fit best. The filter of each leads to "
                + "its tracks.",
            result: "rows, each with kind, name and filter, albums also with artist, date and tracks; and version",
            example: #"{"text": "miles"}"#),
    ]
}

extension TrackField {
    /// True if the name is a tag that has values.
    var isTag: Bool {
        switch self {
        case .title, .artist, .album, .albumArtist, .genre, .composer, .conductor, .performer, .ensemble, .date,
            .originalDate, .label, .grouping, .mood, .work, .movement, .discSubtitle, .location, .comment, .titleSort,
            .artistSort, .albumSort, .albumArtistSort, .composerSort, .musicBrainzArtistId, .musicBrainzAlbumArtistId,
            .musicBrainzAlbumId, .musicBrainzReleaseGroupId, .musicBrainzRecordingId, .musicBrainzReleaseTrackId,
            .musicBrainzWorkId:
            true
        case .uri, .path, .artists, .trackNumber, .trackCount, .discNumber, .discCount, .duration, .movementNumber,
            .movementCount, .tags, .albumId, .isCompilation, .hasPicture, .hasLyrics, .chapterCount, .codec,
            .sampleRate, .bitsPerSample, .channels, .size, .trackGain, .trackPeak, .albumGain, .albumPeak,
            .loudness, .added, .modified, .missing, .liked, .rating, .playCount, .skipCount, .lastPlayed:
            false
        }
    }
}

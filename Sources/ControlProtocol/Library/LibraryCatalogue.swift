import NowPlaying

/// The methods of the library. Its server's checks, its `rpc.discover` and the manual use this table.
package enum LibraryCatalogue {
    /// The table for the server.
    package static let table = MethodTable(
        title: "nowplaying-library", methods: readingMethods + queueMethods + listMethods + serverMethods,
        notifications: [
            (libraryChanged, "Version, number of tracks and progress of the library, at most once a second."),
            (listsChanged, "Name and version of a saved list that has changed; the version is null if it is gone."),
        ])

    /// The notification of a change of the library.
    package static let libraryChanged = "library.changed"

    /// The notification of a change of a saved list.
    package static let listsChanged = "lists.changed"

    private static let serverMethods: [Method] = [
        Method(
            name: .libraryStatus, kind: .library, role: .read, reach: .network(.read), parameters: [],
            help: "Describes the library: its folders, its size, and the scan that is in progress.",
            result:
                "version, tracks, duration, roots (each with name, path and mode: unseen, watched, walked or "
                + "missing), scan, lastScan, faultCount, faults and, for callers that see all of the library, loudness as "
                + "library.loudness answers it",
            example: "{}"),
        Method(
            name: .librarySubscribe, kind: .library, role: .read, reach: .network(.read), parameters: [],
            help: "Sends a notification library.changed from now on after each change, at most once a second.",
            result: "version and tracks", example: "{}"),
        Method(
            name: .libraryUnsubscribe, kind: .library, role: .read, reach: .network(.read), parameters: [],
            help: "Ends the notifications of this connection.", result: "an empty object", example: "{}"),
        Method(
            name: .libraryUpdate, kind: .library, role: .control, reach: .network(.control),
            parameters: [.optional("uri", .uri, "a file or folder of the library; default: all of it")],
            help: "Looks for changes now, at full speed.", result: "started", example: "{}"),
        Method(
            name: .libraryLoudness, kind: .library, role: .control, reach: .network(.control),
            parameters: [
                .optional("paused", .boolean, "true: pause the measuring; false: resume it; restarts keep this")
            ],
            help:
                "Says how far the library has measured the loudness of files without loudness tags. It reads a file only "
                + "within an hour of a scan or a play of its folder, so that disks may sleep.",
            result:
                "done and total (files without loudness tags), failed, state (measuring; waiting: the rest follows after the "
                + "next scan or play of its folder; paused; complete; unavailable: nowplaying-decode or FFmpeg is missing "
                + "or does not start), uri of the file being measured, and problem in words if it is unavailable",
            example: #"{"paused": true}"#),
        .hello, .discovery,
    ]

    // MARK: Parameters

    /// The filter of a query.
    static let filter = Parameter.optional("filter", .filter, "only tracks that pass it; default: all")
    /// The order of tracks.
    static let sort = Parameter.optional(
        "sort", .textOrTexts(count: 1...8),
        "fields to sort by, each with a leading - for falling, or random or randomAlbums alone; albums: by album artist, date "
            + "and title of the album, then by disc, number and file; default: the order in which the tracks came into the "
            + "library")
    /// The seed of a random order.
    static let seed = Parameter.optional(
        "seed", .ordinal, "a number that selects one of the random orders; default: 0")
    /// Keys of a track's row.
    static let fields = Parameter.optional(
        "fields", .array(.choice(TrackField.allCases.map(\.rawValue)), count: 1...TrackField.allCases.count),
        "keys of each row; default: " + TrackField.usual.map(\.rawValue).joined(separator: ", ")
            + "; loudness has track and album in LUFS, truePeak in dBTP if the library measured it, and measured: false if "
            + "it is from tags")
    /// The cursor at the end of the previous page.
    static let after = Parameter.optional("after", .cursor, "next of the page before, for the page after it")

    /// The number of rows of a page.
    static func limit(_ most: Int64, usual: Int) -> Parameter {
        .optional("limit", .integer(1...most), "number of rows; default: \(usual)")
    }
}

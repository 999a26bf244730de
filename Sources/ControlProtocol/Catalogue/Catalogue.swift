import NowPlaying

/// The methods of the daemon. The server's checks, `rpc.discover`, the client and the manual use this table.
package enum Catalogue {
    /// The table for the server.
    package static let table = MethodTable(
        title: Product.name,
        methods: nowPlayingMethods + commandMethods + queueMethods + feedbackMethods + otherMethods + sessionMethods,
        notifications: [
            (stateChanged, "The full state, sent to subscribers at each key event."),
            (feedbackChanged, "The feedback of one item, sent to the subscribers of feedback at each change."),
        ])

    /// The notification of a state to the subscribers of `nowPlaying.subscribe`.
    package static let stateChanged = "nowPlaying.changed"

    /// All methods, in the order of the manual.
    package static var methods: [Method] { table.methods }

    /// The method with this name on the wire; nil: there is none.
    package static func method(_ name: String) -> Method? { table.method(name) }

    /// The method with this name.
    package static func method(_ name: MethodName) -> Method { table.method(name.rawValue)! }

    static let strict = Parameter.optional(
        "strict", .boolean, "true: refuse all if one of the media, or of the entries of a playlist, does not exist")
    static let session = Parameter.optional("session", .text, "name of the session; default: the active one")
    /// Guard of all methods of the queue.
    package static let ifVersion = Parameter.optional(
        "ifVersion", .ordinal, "run only if the queue still has this version")

    /// Fields of an item that clients can set.
    package static let itemFields: [Parameter] = [
        .optional("title", .text, "title"),
        .optional("subtitle", .text, "subtitle"),
        .optional("artist", .text, "artist, as one text"),
        .optional("artists", .array(.text, count: 0...64), "artists, one by one"),
        .optional("albumTitle", .text, "title of the album"),
        .optional("albumArtist", .text, "artist of the album"),
        .optional("composer", .text, "composer"),
        .optional("genre", .text, "genre"),
        .optional("trackNumber", .integer(0...1_000_000), "number on the disc"),
        .optional("trackCount", .integer(0...1_000_000), "tracks of the disc"),
        .optional("discNumber", .integer(0...1_000_000), "number of the disc"),
        .optional("discCount", .integer(0...1_000_000), "discs of the album"),
        .optional("releaseDate", .text, "as precise as known: 1999, 1999-05, 1999-05-03"),
        .optional("isrc", .text, "International Standard Recording Code"),
        .optional("description", .text, "description of the item"),
        .optional("contentRating", .text, "rating of the content"),
        .optional("isExplicit", .boolean, "true if the content is explicit"),
        .optional("isLiveStream", .boolean, "true for a live stream, which has no end and no seeking"),
        .optional(
            "mediaType", .choice(MediaType.allCases.map(\.rawValue)),
            "kind of the item; selects its defaults, such as the preferred intervals"),
        .optional("defaultRate", .numberIn(0.5...3), "rate at the start of the item"),
        .optional("artworkUrl", .text, "address of its picture"),
        .optional(
            "animatedArtwork",
            .object([
                .optional("1:1", .uri, "a square film on the daemon's host"),
                .optional("3:4", .uri, "a tall one"),
            ]), "short films (MP4, WebM, GIF), shown in a loop instead of the picture"),
        .optional(
            "chapters",
            .array(
                .object([
                    .required("start", .seconds, "seconds of content time"),
                    .optional("title", .text, "title"),
                ]), count: 0...Chapter.limit),
            "chapters by their start times; an empty array hides those of the file"),
        .optional(
            "texts",
            .array(
                .object([
                    .required("key", .choice(LocalizedText.Key.allCases.map(\.rawValue)), "which text"),
                    .required("language", .text, "BCP 47 tag, such as de or pt-BR; und fits everybody"),
                    .required("value", .text, "the text in this language"),
                ]), count: 0...LocalizedText.limit),
            "texts in other languages; each client gets those that fit its languages best"),
        .optional(
            "adTimeRanges",
            .array(
                .object([
                    .required("start", .seconds, "seconds of media time"),
                    .required("duration", .someSeconds, "seconds"),
                ]), count: 0...AdTimeRange.limit),
            "advertisements by their times in the file; they must not overlap"),
    ]

    /// Duration that a client knows before the file is open.
    static let duration = Parameter.optional(
        "duration", .someSeconds, "seconds; the duration of the file replaces it when the file is open")

    /// Members of an object in place of a uri.
    package static let mediaFields: [Parameter] =
        [
            .optional("uri", .uri, "file or address to play; with a descriptor, the name to show"),
            .optional("descriptor", .integer(0...15), "index of an open file among those sent with the line"),
        ] + itemFields + [duration]
}

import NowPlaying

/// The methods of the daemon: the server's checks, `rpc.discover`, the client and the manual are made of this table.
package enum Catalogue {
    /// The table for the server.
    package static let table = MethodTable(
        title: Product.name,
        methods: nowPlayingMethods + commandMethods + queueMethods + otherMethods + sessionMethods,
        notifications: [("nowPlaying.changed", "The whole state, sent to subscribers at each key event.")])

    /// All methods, in the order of the manual.
    package static var methods: [Method] { table.methods }

    /// The method with this name on the wire; nil: there is none.
    package static func method(_ name: String) -> Method? { table.method(name) }

    /// The method with this name.
    package static func method(_ name: MethodName) -> Method { table.method(name.rawValue)! }

    static let session = Parameter.optional("session", .text, "name of the session; without it the active one")
    /// What all methods of the queue take.
    package static let ifVersion = Parameter.optional(
        "ifVersion", .ordinal, "do it only if the queue still has this version")

    /// What an entry of the queue may be told about itself.
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
        .optional("releaseDate", .text, "as precise as it is known: 1999, 1999-05, 1999-05-03"),
        .optional("isrc", .text, "International Standard Recording Code"),
        .optional("description", .text, "text about the item"),
        .optional("contentRating", .text, "rating of the content"),
        .optional("isExplicit", .boolean, "whether the content is explicit"),
        .optional("isLiveStream", .boolean, "whether it has no end and can't be seeked"),
        .optional(
            "mediaType", .choice(MediaType.allCases.map(\.rawValue)),
            "what it is; decides what is usual with its kind, such as the preferred intervals"),
        .optional("defaultRate", .numberIn(0.5...3), "rate at which play starts it"),
        .optional("artworkUrl", .text, "where its picture is"),
        .optional(
            "animatedArtwork",
            .object([
                .optional("1:1", .uri, "a square film on the daemon's host"),
                .optional("3:4", .uri, "a tall one"),
            ]), "short films (MP4, WebM, GIF) that are shown in a loop instead of the picture"),
        .optional(
            "chapters",
            .array(
                .object([
                    .required("start", .seconds, "seconds of content time"),
                    .optional("title", .text, "title"),
                ]), count: 0...Chapter.limit),
            "parts that can be gone to, by their beginnings; an empty array hides those of the file"),
        .optional(
            "texts",
            .array(
                .object([
                    .required("key", .choice(LocalizedText.Key.allCases.map(\.rawValue)), "which text"),
                    .required("language", .text, "as in BCP 47, such as de or pt-BR; und fits everybody"),
                    .required("value", .text, "the text in this language"),
                ]), count: 0...LocalizedText.limit),
            "texts in other languages: each client sees those that fit best to the languages it asked for"),
        .optional(
            "adTimeRanges",
            .array(
                .object([
                    .required("start", .seconds, "seconds of media time"),
                    .required("duration", .someSeconds, "seconds"),
                ]), count: 0...AdTimeRange.limit),
            "advertisements, by their place in the file; they must not overlap"),
    ]

    /// What an object may hold that stands where a uri may.
    package static let mediaFields: [Parameter] =
        [
            .optional("uri", .uri, "what to play; with a descriptor, the name to show"),
            .optional("descriptor", .integer(0...15), "place of an open file among those sent with the line"),
        ] + itemFields
}

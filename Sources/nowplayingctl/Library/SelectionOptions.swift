/// Options that choose tracks of the library.
extension Selection {
    /// Options that choose tracks of the library by their tags and feedback. Of several, all must hold.
    static let filters = [
        Option(
            "--artist", value: "ARTIST", "tracks and albums of this artist; * and ? stand for any text or character"),
        Option("--album-artist", value: "ARTIST", "albums of this artist"),
        Option("--album", value: "ALBUM", "this album"),
        Option("--title", value: "TITLE", "this title"),
        Option("--genre", value: "GENRE", "this genre"),
        Option("--composer", value: "COMPOSER", "this composer"),
        Option("--year", value: "YEARS", "of this year, or of years such as 1990-1999"),
        Option("--folder", value: "FOLDER", "in this folder of the library, and in the folders in it"),
        Option("--rating", value: "STARS", "with at least STARS stars, or with a range such as 2-3"),
        Option("--liked", "that you like"),
        Option("--not-played-since", value: "AGE", "not played since then: 30d, 6mo, 1y, or a date"),
        Option("--added-since", value: "AGE", "new in the library since then: 30d, 6mo, 1y, or a date"),
        Option(
            "--filter", value: "FILTER", "tests such as 'genre=jazz rating>=4', or a filter of the protocol as JSON"),
    ].map(\.repeatable)

    /// Options for the order and the number of tracks.
    static let order = [
        Option("--sort", value: "FIELDS", "order by these fields, such as artist,-date; random shuffles them"),
        Option("--limit", value: "NUMBER", "at most NUMBER of them"),
    ]

    /// Options of verbs that take a hit of a search.
    static let hit = [
        Option("--search", value: "TEXT", "the best hit of a search for this text"),
        Option("--hit", short: "-n", value: "NUMBER", "this hit of the search, as search numbers them; default: 1"),
        kind,
    ]

    /// The kinds of things that a search finds.
    static let kind = Option(
        "--kind", value: "artist|album|track|genre|folder|list", "search only for things of this kind")
}

import ControlProtocol
import NowPlayingClient

extension Verb {
    /// Options that choose tracks of the library by their tags and feedback.
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
        Option("--rating", value: "STARS", "with at least so many stars, or with a number such as 2-3"),
        Option("--liked", "that you like"),
        Option("--not-played-since", value: "AGE", "not played since then: 30d, 6mo, 1y, or a date"),
        Option("--added-since", value: "AGE", "new in the library since then: 30d, 6mo, 1y, or a date"),
        Option(
            "--filter", value: "FILTER", "tests such as 'genre=jazz rating>=4', or a filter of the protocol as JSON"),
    ]

    /// Options for the order and the number of tracks.
    static let order = [
        Option("--sort", value: "FIELDS", "order by these fields, such as artist,-date; random shuffles them"),
        Option("--limit", value: "NUMBER", "so many of them at most"),
    ]

    /// Options of verbs that take a hit of a search.
    static let hit = [
        Option("--search", value: "TEXT", "the best hit of a search for this text"),
        Option("--hit", short: "-n", value: "NUMBER", "this hit of the search, as search numbers them; default: 1"),
        searchKind,
    ]

    /// The kinds of things that a search finds.
    static let searchKind = Option(
        "--kind", value: "artist|album|track|genre|folder|list", "search only for things of this kind")
}

/// Tracks of the library that the command line chooses, as parameters of `library.add` and `library.query`.
struct Selection {
    /// `filter` or `list`, and `sort`, `seed` and `limit`.
    private(set) var parameters = JSONObject()

    /// Albums in their order, each by its discs and numbers.
    private static let usualSort: JSONValue = ["albumArtist", "date", "album", "discNumber", "trackNumber", "uri"]

    /// Reads the options of the command line, and pairs of words as mpc has them. Nil: none of them chooses tracks.
    init?(_ run: Invocation, pairs: [Word] = []) throws(Failure) {
        let filter = try Selection.filter(run, pairs: pairs)
        if let text = run.word("--search") {
            guard filter == nil else {
                throw .usage("--search and options for tags exclude each other", verb: run.verb.name)
            }
            // The rest of a text without quotes.
            let whole = ([text] + run.words).map(\.text).joined(separator: " ")
            self = try Searching.selection(run, whole)
        } else if let filter {
            parameters["filter"] = filter
        } else if run.has("--hit") || run.has("--kind") {
            throw .usage("--hit and --kind belong to --search", verb: run.verb.name)
        } else if !run.has("--sort"), !run.has("--limit") {
            return nil
        }
        try order(run)
    }

    /// Tracks by `filter`; nil: all.
    init(filter: JSONValue?, _ run: Invocation) throws(Failure) {
        parameters["filter"] = filter
        try order(run)
    }

    /// Tracks of which tags contain texts, by pairs of words.
    init(containing pairs: [Word], _ run: Invocation) throws(Failure) {
        guard pairs.count % 2 == 0 else {
            throw .usage("\(run.verb.name) takes pairs of a tag and its text", verb: run.verb.name)
        }
        let tests = stride(from: 0, to: pairs.count, by: 2).map { index in
            LibraryTest.contains(LibraryTags.name(pairs[index].text), pairs[index + 1].text)
        }
        try self.init(filter: LibraryTest.all(tests), run)
    }

    /// A saved list.
    init(list name: String) { parameters["list"] = .string(name) }

    /// Adds the order and the limit.
    private mutating func order(_ run: Invocation) throws(Failure) {
        let isList = parameters["list"] != nil
        if let sort = run.sort() {
            if isList {
                throw .usage("a list has its own order: --sort is for tracks by their tags", verb: run.verb.name)
            }
            parameters["sort"] = sort
            if sort.arrayValue?.first?.stringValue?.hasPrefix("random") == true { seed(Selection.anySeed) }
        } else if parameters["filter"] != nil {
            parameters["sort"] = Selection.usualSort
        }
        if let limit = try run.limit() {
            if isList {
                throw .usage("a list is added as a whole: --limit is for tracks by their tags", verb: run.verb.name)
            }
            parameters["limit"] = .integer(Int64(limit))
        }
    }

    /// Takes up the number that decides the random order.
    mutating func seed(_ number: Int64) { parameters["seed"] = .integer(number) }

    /// Takes up an order, instead of another one.
    mutating func sort(by order: JSONValue) { parameters["sort"] = order }

    /// Takes up a limit, instead of another one.
    mutating func limit(to count: Int) { parameters["limit"] = .integer(Int64(count)) }

    /// A number for a random order that nobody expects.
    static var anySeed: Int64 { Int64.random(in: 0..<(1 << 53)) }

    /// The filter of the options and of pairs of words; nil: there are none.
    static func filter(_ run: Invocation, pairs: [Word] = []) throws(Failure) -> JSONValue? {
        var tests: [JSONValue] = []
        for test in LibraryTest.allCases {
            let option = "--" + test.rawValue
            guard let word = run.word(option) else { continue }
            let text = test == .folder ? try Places.folder(word) : word.text
            do { tests.append(try test.json(text)) } catch {
                throw run.wrong(option, text, error.expected)
            }
        }
        for index in stride(from: 0, to: pairs.count, by: 2) {
            guard index + 1 < pairs.count else {
                throw .usage(
                    "\(run.verb.name) takes pairs of a tag and its text: \"\(pairs[index].shown)\" stands alone",
                    verb: run.verb.name)
            }
            do { tests.append(try LibraryTags.test(pairs[index].text, pairs[index + 1].text)) } catch {
                throw run.wrong(pairs[index].shown, pairs[index + 1].text, error.expected)
            }
        }
        return LibraryTest.all(tests)
    }
}

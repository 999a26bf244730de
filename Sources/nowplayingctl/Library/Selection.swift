import ControlProtocol
import NowPlayingClient

/// The command line's choice of tracks of the library, as parameters of `library.add` and `library.query`.
struct Selection {
    /// `filter` or `list`, and `sort`, `seed` and `limit`.
    private(set) var parameters = JSONObject()

    /// Albums in their order, each by its discs and numbers.
    private static let usualSort: JSONValue = ["albums"]

    /// Reads the options of the command line, and mpc's pairs of words. Nil: none of them chooses tracks.
    init?(_ run: Invocation, pairs: [Word] = []) throws(Failure) {
        let filter = try Selection.filter(run, pairs: pairs)
        if let text = run.word("--search") {
            guard filter == nil else {
                throw .usage("--search and options for tags exclude each other", verb: run.verb.name)
            }
            // A text without quotes continues in the other words.
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

    /// Sets the seed of the random order.
    mutating func seed(_ number: Int64) { parameters["seed"] = .integer(number) }

    /// Replaces the order.
    mutating func sort(by order: JSONValue) { parameters["sort"] = order }

    /// Replaces the limit.
    mutating func limit(to count: Int) { parameters["limit"] = .integer(Int64(count)) }

    /// A random seed.
    static var anySeed: Int64 { Int64.random(in: 0..<(1 << 53)) }

    /// The filter of the options and of pairs of words; nil: there are none.
    static func filter(_ run: Invocation, pairs: [Word] = []) throws(Failure) -> JSONValue? {
        var tests: [JSONValue] = []
        for test in LibraryTest.allCases {
            let option = "--" + test.rawValue
            for word in run.words(option) {
                let text = test == .folder ? try Places.folder(word) : word.text
                do { tests.append(try test.json(text)) } catch {
                    throw run.wrong(option, text, error.expected)
                }
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

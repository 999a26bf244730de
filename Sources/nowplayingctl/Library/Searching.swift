import ControlProtocol
import NowPlayingClient

/// `search`, and hits of searches for other verbs.
enum Searching {
    /// Shown hits of each kind without `--limit`.
    private static let usual = 8
    /// Maximum hits in one answer.
    private static let most = 1000

    /// `search`: shows the hits, or plays or adds one.
    static func search(_ run: Invocation) throws(Failure) {
        let text = run.words.map(\.text).joined(separator: " ")
        let isAction = ["--play", "--add", "--next"].filter(run.has)
        guard isAction.count <= 1 else {
            throw .usage("\(isAction[0]) and \(isAction[1]) exclude each other", verb: run.verb.name)
        }
        guard isAction.isEmpty else {
            let selection = try selection(run, text)
            if run.has("--play") { return try Adding.play(run, selection) }
            return try Adding.add(run, selection, run.has("--next") ? JSONObject([.init("next", true)]) : JSONObject())
        }
        if run.has("--hit") {
            throw .usage("--hit chooses the hit for --play, --add or --next", verb: run.verb.name)
        }
        if run.wantsJSON {
            var parameters = try question(run, text)
            parameters["limit"] = try run.limit().map { .integer(Int64($0)) }
            return run.printJSON(try run.library("library.search", parameters))
        }
        let hits = try hits(run, text)
        guard !hits.groups.isEmpty else { throw try nothing(run, text) }
        for line in hits.lines(run.output, columns: run.output.isTerminal ? run.output.columns : nil) {
            run.output.line(line)
        }
    }

    /// The hit that `--hit` names, or the best, as tracks to add.
    static func selection(_ run: Invocation, _ text: String) throws(Failure) -> Selection {
        var number = 1
        if let word = run.value("--hit") {
            guard let given = ClockText.integer(word), given >= 1 else {
                throw run.wrong("--hit", word, "a number from 1, as search shows it")
            }
            number = given
        }
        let hits = try hits(run, text).numbered
        guard !hits.isEmpty else { throw try nothing(run, text) }
        guard number <= hits.count else {
            throw Failure(
                .noSuchContent, "the search shows \(hits.count) hits, and none with the number \(number)")
        }
        let hit = hits[number - 1]
        if hit["kind"]?.stringValue == "list", let name = hit["list"]?.stringValue ?? hit["name"]?.stringValue {
            return Selection(list: name)
        }
        guard let filter = hit["filter"] else {
            throw Failure(.general, "the library has no filter for the hit \(number)")
        }
        return try Selection(filter: filter, run)
    }

    /// The hits in their groups. The same text, kind and limit give the same hits, so the numbers of hits stay valid.
    private static func hits(_ run: Invocation, _ text: String) throws(Failure) -> SearchHits {
        var parameters = try question(run, text)
        let isLimited = run.verb.options.contains { $0.name == "--limit" } && !run.has("--search")
        let limit = isLimited ? try run.limit() ?? usual : usual
        let isOneKind = run.has("--kind")
        parameters["limit"] = .integer(Int64(min(most, max(200, limit * (isOneKind ? 1 : 6)))))
        let rows = try run.library("library.search", parameters)["rows"]?.arrayValue ?? []
        return SearchHits(rows, limit: isOneKind && !run.has("--limit") ? max(limit, 20) : limit)
    }

    private static func question(_ run: Invocation, _ text: String) throws(Failure) -> JSONObject {
        var parameters = JSONObject([.init("text", .string(text))])
        if let kind = run.value("--kind") {
            let kinds = ["artist", "album", "track", "genre", "folder", "list"]
            let name = kind.hasSuffix("s") ? String(kind.dropLast()) : kind
            guard kinds.contains(name) else {
                throw run.wrong("--kind", kind, "artist, album, track, genre, folder or list")
            }
            parameters["kinds"] = [.string(name)]
        }
        return parameters
    }

    private static func nothing(_ run: Invocation, _ text: String) throws(Failure) -> Failure {
        try Adding.nothing(run, "nothing in the library matches \"\(TerminalText.safe(text))\"")
    }
}

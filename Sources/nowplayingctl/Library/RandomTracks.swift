import ControlProtocol
import NowPlayingClient

/// `random`: random tracks or albums.
enum RandomTracks {
    private static let usualTracks = 50
    private static let usualAlbums = 5
    /// Words that set the play order.
    private static let modes: Set = ["on", "off", "yes", "no", "items", "collections", "toggle"]
    /// Rows of a page in the search for the end of an album.
    private static let most: Int64 = 10_000

    /// `random`: plays or adds random tracks. mpc's words set the play order.
    static func run(_ run: Invocation) throws(Failure) {
        var words = run.words[...]
        let isAlbums = words.first?.text == "albums"
        if isAlbums || words.first?.text == "tracks" { words = words.dropFirst() }
        if isAlbums || words.count != run.words.count || words.isEmpty || ClockText.integer(words[0].text) != nil {
            return try choose(run, isAlbums: isAlbums, words.first?.text, extra: words.dropFirst().first)
        }
        guard run.words.count == 1, modes.contains(run.words[0].text.lowercased()), let shuffle = Verb.named("shuffle")
        else {
            throw run.wrong("random", run.words[0].text, "tracks, albums, or a mode of shuffle such as on")
        }
        try run.restrict("random \(run.words[0].text)")
        // mpc's random is the play order.
        try shuffle.run(run)
    }

    private static func choose(
        _ run: Invocation, isAlbums: Bool, _ number: String?, extra: Word?
    ) throws(Failure) {
        if let extra { throw .usage("random takes no \"\(extra.shown)\" here", verb: run.verb.name) }
        var count = isAlbums ? usualAlbums : usualTracks
        if let number {
            guard let given = ClockText.integer(number), (1...1_000_000).contains(given) else {
                throw run.wrong("random", number, "a number from 1")
            }
            count = given
        }
        guard !(run.has("--add") && run.has("--next")) else {
            throw .usage("--add and --next exclude each other", verb: run.verb.name)
        }
        // A random choice leaves out files without sound.
        let tests = [try Selection.filter(run), ["unreadable": ["is": false]]].compactMap { $0 }
        var selection = try Selection(filter: LibraryTest.all(tests), run)
        selection.sort(by: isAlbums ? "randomAlbums" : "random")
        selection.seed(try seed(run))
        selection.limit(to: isAlbums ? try tracks(of: count, selection, run) : count)
        if run.has("--add") { return try Adding.add(run, selection, JSONObject()) }
        if run.has("--next") { return try Adding.add(run, selection, JSONObject([.init("next", true)])) }
        try Adding.play(run, selection)
    }

    private static func seed(_ run: Invocation) throws(Failure) -> Int64 {
        guard let text = run.value("--seed") else { return Selection.anySeed }
        guard let number = ClockText.integer(text), number < 1 << 53 else {
            throw run.wrong("--seed", text, "a whole number below 2^53")
        }
        return Int64(number)
    }

    /// Number of tracks on the first `count` albums of a random order. The same seed gives the same order.
    private static func tracks(of count: Int, _ selection: Selection, _ run: Invocation) throws(Failure) -> Int {
        var parameters = selection.parameters
        parameters["fields"] = ["albumId"]
        parameters["limit"] = .integer(most)
        var (albums, tracks) = (0, 0)
        var last: JSONValue?
        walk: while true {
            let page = try run.library("library.query", parameters)
            for row in page["rows"]?.arrayValue ?? [] {
                // Tracks on no album come last.
                guard let album = row["albumId"], album != .null else { break walk }
                if album != last {
                    albums += 1
                    if albums > count { break walk }
                }
                last = album
                tracks += 1
            }
            guard let next = page["next"], next != .null else { break }
            parameters["after"] = next
        }
        guard tracks > 0 else { throw try Adding.nothing(run, "no album of the library matches") }
        return tracks
    }
}

import ControlProtocol
import NowPlaying
import NowPlayingClient

extension Verb {
    /// In which order the queue is played, and what follows its end.
    static let modes = [
        Verb(
            name: "repeat", aliases: ["loop"], synopsis: "[off | one | all]",
            summary: "show or set what follows the end",
            details: """
                one plays the item again and again, all the whole queue; next and previous still move. playerctl's none, \
                track
                and playlist and mpc's on mean off, one and all.
                """,
            examples: [("repeat all", "the queue again and again"), ("repeat", "what is set")], arity: 0...1,
            run: Modes.repeating),
        Verb(
            name: "shuffle", aliases: ["random"], synopsis: "[off | items | collections | toggle]",
            summary: "show or set the order of playing",
            details: """
                items plays the entries at random, collections whole albums (what lies in one folder) at random. The queue
                itself stays as it is, and off returns to it. on means items.
                """,
            examples: [("shuffle items", "at random"), ("shuffle collections", "albums stay whole")], arity: 0...1,
            run: Modes.shuffling),
    ]
}

/// `repeat` and `shuffle`.
enum Modes {
    private static let repeatWords: [String: RepeatMode] = [
        "off": .off, "no": .off, "none": .off, "one": .one, "track": .one, "single": .one, "all": .all, "on": .all,
        "playlist": .all, "queue": .all,
    ]
    private static let shuffleWords: [String: ShuffleMode] = [
        "off": .off, "no": .off, "items": .items, "on": .items, "tracks": .items, "collections": .collections,
        "albums": .collections,
    ]

    /// `repeat`.
    static func repeating(_ run: Invocation) throws(Failure) {
        guard let word = run.words.first?.text else { return try show(run, "repeatMode") }
        guard let mode = repeatWords[word.lowercased()] else {
            throw run.wrong("repeat", word, "off, one or all")
        }
        try run.perform("changeRepeatMode", ["mode": .string(mode.rawValue)])
    }

    /// `shuffle`.
    static func shuffling(_ run: Invocation) throws(Failure) {
        guard let word = run.words.first?.text else { return try show(run, "shuffleMode") }
        var mode = shuffleWords[word.lowercased()]
        if word.lowercased() == "toggle" { mode = try run.state().text("shuffleMode") == "off" ? .items : .off }
        guard let mode else { throw run.wrong("shuffle", word, "off, items, collections or toggle") }
        try run.perform("changeShuffleMode", ["mode": .string(mode.rawValue)])
    }

    private static func show(_ run: Invocation, _ key: String) throws(Failure) {
        let mode = try run.state().text(key) ?? "off"
        if run.wantsJSON { run.printJSON(.string(mode)) } else { run.output.line(TerminalText.safe(mode)) }
    }
}

import ControlProtocol
import NowPlaying
import NowPlayingClient

extension Verb {
    /// In which order the queue is played, and what follows its end.
    static let modes = [
        Verb(
            name: "repeat", aliases: ["loop"], synopsis: "[off | one | all]",
            summary: "show or set the repeat mode",
            details: """
                one repeats the item, all the queue; next and previous still move. The words of playerctl (none, track,
                playlist) and of mpc (on) also work.
                """,
            examples: [("repeat all", "repeat the queue"), ("repeat", "show the mode")], arity: 0...1,
            run: Modes.repeating),
        Verb(
            name: "shuffle", aliases: ["random"], synopsis: "[off | items | collections | toggle]",
            summary: "show or set the play order",
            details: """
                items plays the items in random order, collections whole albums (the files of one folder). The queue
                itself does not change, and off returns to its order. on means items.
                """,
            examples: [("shuffle items", "random order"), ("shuffle collections", "random albums")], arity: 0...1,
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

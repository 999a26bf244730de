import ControlProtocol
import NowPlaying
import NowPlayingClient

extension Modes {
    /// A verb for each command that sets a mode.
    static let verbs = RemoteCommand.modes.compactMap(Modes.init).map(\.verb)
}

/// A command that sets a mode, as a verb: without an argument it shows the mode.
struct Modes: Sendable {
    /// Words of the verb that the table of commands does not have.
    private struct Extras {
        var aliases: [String] = []
        var summary = ""
        var details = ""
        var examples: [(line: String, meaning: String)] = []
        /// Other words for the choices: those of mpc and playerctl.
        var synonyms: [String: String] = [:]
        /// The mode that `toggle` sets if the present mode is off; nil: there is no `toggle`.
        var toggled: String?
    }

    private let command: RemoteCommand
    private let word: String
    private let choices: [String]
    private let key: String
    private let extras: Extras

    /// Nil: the command sets no mode.
    init?(_ command: RemoteCommand) {
        guard let mode = command.mode else { return nil }
        self.command = command
        (word, choices, key) = (mode.word, mode.choices, mode.key)
        extras =
            Modes.extras[command]
            ?? Extras(
                summary: "show or set the \(word) mode", details: Catalogue.method(.command(command)).help,
                examples: [("\(word) \(choices.last ?? "")", "set it"), (word, "show the mode")])
    }

    private static let extras: [RemoteCommand: Extras] = [
        .changeRepeatMode: Extras(
            aliases: ["loop"], summary: "show or set the repeat mode",
            details: """
                one repeats the item, all the queue; next and previous still move. The words of playerctl (none, track,
                playlist) and of mpc (on) also work.
                """,
            examples: [("repeat all", "repeat the queue"), ("repeat", "show the mode")],
            synonyms: [
                "no": "off", "none": "off", "track": "one", "single": "one", "on": "all", "playlist": "all",
                "queue": "all",
            ]),
        .changeShuffleMode: Extras(
            summary: "show or set the play order",
            details: """
                items plays the items in random order, collections whole albums (the files of one folder). The queue
                itself does not change, and off returns to its order. on means items.
                """,
            examples: [("shuffle items", "random order"), ("shuffle collections", "random albums")],
            synonyms: ["no": "off", "yes": "items", "on": "items", "tracks": "items", "albums": "collections"],
            toggled: "items"),
        .changeConsumeMode: Extras(
            summary: "show or set the consume mode",
            details: """
                on removes an item from the queue when playback goes on to the next one, ends after it, or by next; once
                removes one. stop, play and previous remove nothing, and an item that cannot be played stays.
                """,
            examples: [("consume on", "the queue gets shorter"), ("consume", "show the mode")],
            synonyms: ["no": "off", "yes": "on"], toggled: "on"),
        .changeSingleMode: Extras(
            summary: "show or set the single mode",
            details: """
                on pauses at the start of each item that follows, once only of the next one. After the last item playback
                ends. A repeated item plays on: repeat one is another mode.
                """,
            examples: [("single once", "pause after this item"), ("single", "show the mode")],
            synonyms: ["no": "off", "yes": "on", "oneshot": "once"], toggled: "on"),
    ]

    private var words: [String] { choices + (extras.toggled == nil ? [] : ["toggle"]) }

    fileprivate var verb: Verb {
        Verb(
            name: word, aliases: extras.aliases, synopsis: "[\(words.joined(separator: " | "))]",
            summary: extras.summary, details: extras.details, examples: extras.examples, arity: 0...1
        ) { (run) throws(Failure) in try perform(run) }
    }

    private func perform(_ run: Invocation) throws(Failure) {
        guard let argument = run.words.first?.text else {
            let mode = try run.state().text(key) ?? "off"
            return run.wantsJSON ? run.printJSON(.string(mode)) : run.output.line(TerminalText.safe(mode))
        }
        let given = argument.lowercased()
        var mode: String? = extras.synonyms[given] ?? given
        if given == "toggle", let toggled = extras.toggled {
            mode = try run.state().text(key) == "off" ? toggled : "off"
        }
        guard let mode, choices.contains(mode) else {
            let most = words.dropLast().joined(separator: ", ")
            throw run.wrong(word, argument, "\(most) or \(words.last ?? "")")
        }
        try run.perform(command.rawValue, ["mode": .string(mode)])
    }
}

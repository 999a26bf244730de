import ControlProtocol
import NowPlayingClient

extension Verb {
    /// Verbs about the daemon as a service of the machine.
    static let service = [
        Verb(
            name: "top", summary: "show title, place, queue and output on the whole screen",
            details:
                "Moves by the daemon's promise alone: it asks for nothing but the queue when that has changed. Ctrl-C ends.",
            examples: [("top", "in a terminal")]
        ) { (run) throws(Failure) in try TopView(run).show() },
        Verb(
            name: "reload", summary: "have the daemon read its configuration again",
            details: "Says which settings hold from now on, and which only when the daemon is restarted.",
            examples: [("reload", "after a change of nowplayingd.conf")], run: Service.reload),
        Verb(
            name: "setup", synopsis: "[user | system]",
            summary: "have systemd run the daemon, the user's or the system's",
            details:
                "Without a word, the user's where the user has a sound server. Shows the commands, and asks before it runs them.",
            options: [
                Option("--check", "say which unit is in use, and change nothing"),
                Option("--yes", "run the commands without asking"),
            ],
            examples: [
                ("setup --check", "which one is in use?"), ("setup user --yes", "my own, also without a login"),
            ],
            arity: 0...1, run: Setup.setUp),
        Verb(
            name: "doctor", synopsis: "[FILE]", summary: "look for what is wrong, and say what to type",
            details:
                "Walks from the socket to the ear; with a FILE, opens that, too, without playing it. Ends with status 1 if "
                + "there is a fault.",
            examples: [("doctor", "why is nothing heard?"), ("doctor ~/Music/tune.flac", "why does this not play?")],
            arity: 0...1, run: Doctor.examine),
    ]
}

/// `reload`.
enum Service {
    /// What changed, in words.
    static func reload(_ run: Invocation) throws(Failure) {
        let answer = try run.call("daemon.reload", nil, patience: nil)
        if run.wantsJSON { return run.printJSON(answer) }
        let (changed, waiting) = (names(answer["changed"]), names(answer["restart"]))
        if !changed.isEmpty { run.output.line("changed: " + changed) }
        if !waiting.isEmpty { run.output.line("when the daemon is restarted: " + waiting) }
        if changed.isEmpty, waiting.isEmpty { run.output.line("nothing has changed") }
    }

    private static func names(_ list: JSONValue?) -> String {
        TerminalText.safe((list?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: ", "))
    }
}

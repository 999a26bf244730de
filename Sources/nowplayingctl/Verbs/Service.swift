import ControlProtocol
import NowPlayingClient

extension Service {
    /// Verbs about the daemon as a service of the machine.
    static let verbs = [
        Verb(
            name: "top", summary: "show title, position, queue and output on the whole screen",
            details:
                "Computes the position from the last change; it asks the daemon only for a changed queue. q or Ctrl-C "
                + "ends it.",
            examples: [("top", "in a terminal")]
        ) { (run) throws(Failure) in try TopView(run).show() },
        Verb(
            name: "reload", summary: "reload the daemon's configuration",
            details: "Prints the settings that take effect now, and those that need a restart.",
            examples: [("reload", "after a change of nowplayingd.conf")], run: Service.reload),
        Verb(
            name: "setup", synopsis: "[user | system | rooms]",
            summary: "let systemd run the daemon, for the user or the system; or set up rooms by Snapcast",
            details: """
                The default is user if the user has a sound server. Shows the commands, and asks before it runs them.
                rooms finds a Snapcast server, shows the lines of the configurations, gives the server's user the right to reach
                the daemon, and checks the way to the rooms. With --check, the exit status is 1 if that has a fault.
                """,
            options: [
                Option("--check", "show the unit in use, and change nothing"),
                Option("--yes", short: "-y", "run the commands without asking"),
                Rooms.serverOption,
                Option("--allow-commands", "rooms: let everybody in the LAN control playback by apps of Snapcast"),
            ],
            examples: [
                ("setup --check", "show the unit in use"),
                ("setup user --yes", "this user's daemon, also without a login"),
                ("setup rooms --check", "look at the way to the rooms"),
            ],
            arity: 0...1, run: Setup.setUp),
        Verb(
            name: "doctor", synopsis: "[FILE]", summary: "find faults and print the commands that help",
            details:
                "Checks every step from the socket to the ear. With a FILE, opens that too, without playing it. The exit "
                + "status is 1 if there is a fault, and 8 if no daemon answers.",
            examples: [("doctor", "why is there no sound?"), ("doctor ~/Music/tune.flac", "why does this not play?")],
            arity: 0...1, run: Doctor.examine),
    ]
}

/// `reload`.
enum Service {
    /// Reloads and prints the changed settings.
    static func reload(_ run: Invocation) throws(Failure) {
        let answer = try run.call("daemon.reload", nil, patience: nil)
        if run.wantsJSON { return run.printJSON(answer) }
        let (changed, waiting) = (names(answer["changed"]), names(answer["restart"]))
        if !changed.isEmpty { run.output.line("changed: " + changed) }
        if !waiting.isEmpty { run.output.line("after a restart: " + waiting) }
        if changed.isEmpty, waiting.isEmpty { run.output.line("no changes") }
    }

    private static func names(_ list: JSONValue?) -> String {
        TerminalText.safe((list?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: ", "))
    }
}

import ControlProtocol
import NowPlaying
import NowPlayingClient

extension Sessions {
    /// Sessions of the daemon.
    static let verbs = [
        Verb(
            name: "session", synopsis: "[list | create NAME | activate SESSION | close SESSION | publish NAME]",
            summary: "list the sessions, or create, activate or close one",
            details: """
                Each session has its own queue and clock. Commands without --session go to the active one: the one that
                people hear, or that activate has chosen. --policy sets the effect on the others while this one plays. publish shows the
                playback of another program while its standard input is open: it reads states as lines of JSON (see
                nowPlaying.publish in nowplayingd-protocol(7)), and runs PROGRAM COMMAND [VALUE] for commands.
                """,
            options: [
                Option("--policy", value: "mix|duck|pause|pause-spoken", "effect on the other sessions"),
                Option("--duck-to", value: "DB", "with the policy duck: level of the others in decibels, such as -12"),
                Option("--ramp", value: "SECONDS", "seconds of each fade"),
                Option("--unpublished", "visible only to clients that name it, and never active"),
                Option("--commands", value: "NAMES", "for publish: supported commands, such as play,pause,next-track"),
                Option("--run", value: "PROGRAM", "for publish: program that runs them, within 2 seconds"),
            ],
            examples: [
                ("session", "list them"), ("session create night --policy mix", "plays beside the others"),
                ("--session night play rain.flac", "play there"), ("session activate main", "back to the music"),
            ], arity: 0...2, run: Sessions.run)
    ]
}

/// `session`.
enum Sessions {
    /// The words of `session`.
    private enum Action: String {
        case list, create, activate, close, publish

        /// Options that the word takes.
        var options: [String] {
            let terms = ["--policy", "--duck-to", "--ramp", "--unpublished"]
            return switch self {
            case .list, .activate, .close: []
            case .create: terms
            case .publish: terms + ["--commands", "--run"]
            }
        }
    }

    /// Shows, makes, activates or closes sessions. Throws the fault of the words, or the daemon's refusal.
    static func run(_ run: Invocation) throws(Failure) {
        let word = run.words.first?.text ?? "list"
        guard let action = Action(rawValue: word) else {
            throw run.wrong("session", word, "list, create, activate, close or publish")
        }
        try run.restrict("session \(word)", to: action.options)
        switch action {
        case .list:
            guard run.words.count < 2 else {
                throw .usage("session list takes no \"\(run.words[1].shown)\" here", verb: run.verb.name)
            }
            try list(run)
        case .create:
            let name = try Self.name(run)
            try run.perform("session.create", .object(try terms(run, name)))
        case .activate:
            let name = try Self.name(run)
            let result = try run.call("session.activate", ["name": .string(name)])
            if run.wantsJSON { run.printJSON(result) }
            guard result["active"] == true else {
                let why = "it has nothing to play, its policy is mix, or it is silent beside a session that plays"
                throw Failure(.disabled, "cannot activate \(TerminalText.safe(name)): \(why); play in it instead")
            }
        case .close: try run.perform("session.close", ["name": .string(try name(run))])
        case .publish: try Publishing(run, try name(run)).publish()
        }
    }

    /// The name after the word. Throws the fault of the words.
    private static func name(_ run: Invocation) throws(Failure) -> String {
        guard run.words.count == 2 else {
            throw .usage("session \(run.words[0].shown) needs a name", verb: run.verb.name)
        }
        return run.words[1].text
    }

    /// Parameters of a new session.
    static func terms(_ run: Invocation, _ name: String) throws(Failure) -> JSONObject {
        var parameters = JSONObject([.init("name", .string(name))])
        if let policy = run.value("--policy") { parameters["policy"] = .string(WireName.camel(policy)) }
        if let decibels = try Announcing.duckTo(run) { parameters["duckTo"] = .number(decibels) }
        if let text = run.value("--ramp") {
            guard let seconds = ClockText.decimal(text[...]), seconds <= 10 else {
                throw run.wrong("--ramp", text, "seconds from 0 to 10, such as 0.5")
            }
            parameters["ramp"] = .number(seconds)
        }
        if run.has("--unpublished") { parameters["publishes"] = false }
        return parameters
    }

    private static func list(_ run: Invocation) throws(Failure) {
        let result = try run.call("session.list")
        if run.wantsJSON { return run.printJSON(result) }
        for session in result["sessions"]?.arrayValue ?? [] {
            let isActive = session["active"] == true
            let name = TerminalText.safe(session["name"]?.stringValue ?? "")
            var notes = [TerminalText.safe(session["state"]?.stringValue ?? "")]
            if session["external"] == true { notes.append("another program's") }
            if let policy = session["policy"]?.stringValue, policy != "pause" {
                notes.append(TerminalText.safe(WireName.kebab(policy)))
            }
            let styled = run.output.styled(name, isActive ? .bold : .dim)
            run.output.line("\(isActive ? "*" : " ") \(styled)  \(notes.joined(separator: ", "))")
        }
    }
}

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
                Each session has its own queue and clock. The session that played last is the active one, and commands
                without --session go to it. --policy sets the effect on the others while this one plays. publish shows the
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
    private static let terms = ["--policy", "--duck-to", "--ramp", "--unpublished"]
    /// The words of `session`, and the options of each.
    private static let options = [
        "list": [], "create": terms, "activate": [], "close": [], "publish": terms + ["--commands", "--run"],
    ]

    /// Shows, makes, activates or closes sessions. Throws the fault of the words, or the daemon's refusal.
    static func run(_ run: Invocation) throws(Failure) {
        let word = run.words.first?.text ?? "list"
        guard let options = options[word] else {
            throw run.wrong("session", word, "list, create, activate, close or publish")
        }
        try run.restrict("session \(word)", to: options)
        if word == "list" {
            guard run.words.count < 2 else {
                throw .usage("session list takes no \"\(run.words[1].shown)\" here", verb: run.verb.name)
            }
            return try list(run)
        }
        guard run.words.count == 2 else { throw .usage("session \(word) needs a name", verb: run.verb.name) }
        let name = run.words[1].text
        switch word {
        case "create":
            try run.perform("session.create", .object(try terms(run, name)))
        case "activate":
            let result = try run.call("session.activate", ["name": .string(name)])
            if run.wantsJSON { run.printJSON(result) }
            guard result["active"] == true else {
                let why = "it has nothing to play, or its policy is mix"
                throw Failure(.disabled, "cannot activate \(TerminalText.safe(name)): \(why)")
            }
        case "close": try run.perform("session.close", ["name": .string(name)])
        default: try Publishing(run, name).publish()
        }
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

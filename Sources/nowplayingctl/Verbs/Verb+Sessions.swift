import ControlProtocol
import NowPlaying
import NowPlayingClient

extension Verb {
    /// Many sources on one box.
    static let sessions = [
        Verb(
            name: "session", synopsis: "[create NAME | activate NAME | close NAME | publish NAME]",
            summary: "list the sessions, or make, choose and end one",
            details: """
                Each session has its own queue and clock; commands without --session go to the active one, which is the one \
                that was
                played last. --policy says what the others do while it plays. publish shows what another program plays: \
                it reads states as
                lines of JSON (see nowPlaying.publish in nowplayingd-protocol(7)), and runs PROGRAM COMMAND [VALUE] for \
                commands. It
                lasts as long as its standard input.
                """,
            options: [
                Option("--policy", value: "POLICY", "the others meanwhile: mix, duck, pause or pauseSpoken"),
                Option("--commands", value: "NAMES", "for publish: commands it takes, such as play,pause,nextTrack"),
                Option("--run", value: "PROGRAM", "for publish: what carries them out, within 2 seconds"),
            ],
            examples: [
                ("session", "which there are"), ("session create night --policy mix", "rain beside everything"),
                ("--session night play rain.flac", "play there"), ("session activate main", "back to the music"),
            ], arity: 0...2, run: Sessions.run)
    ]
}

/// `session`.
enum Sessions {
    static func run(_ run: Invocation) throws(Failure) {
        guard let word = run.words.first?.text else { return try list(run) }
        guard run.words.count == 2 else {
            if word == "list" { return try list(run) }
            throw .usage("session \(TerminalText.safe(word)) needs a name", verb: run.verb.name)
        }
        let name = run.words[1].text
        switch word {
        case "create":
            var parameters = JSONObject([.init("name", .string(name))])
            if let policy = run.value("--policy") { parameters["policy"] = .string(policy) }
            try run.perform("session.create", .object(parameters))
        case "activate":
            let result = try run.call("session.activate", ["name": .string(name)])
            if run.wantsJSON { run.printJSON(result) }
            guard result["active"] == true else {
                throw Failure(.disabled, "\(TerminalText.safe(name)) has nothing to play, or mixes with the others")
            }
        case "close": try run.perform("session.close", ["name": .string(name)])
        case "publish": try Publishing(run, name).publish()
        default:
            throw run.wrong("session", word, "list, create, activate, close or publish")
        }
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
                notes.append(TerminalText.safe(policy))
            }
            let styled = run.output.styled(name, isActive ? .bold : .dim)
            run.output.line("\(isActive ? "*" : " ") \(styled)  \(notes.joined(separator: ", "))")
        }
    }
}

import ControlProtocol
import NowPlayingClient

extension Hooks {
    /// The programs that follow the daemon.
    static let verbs = [
        Verb(
            name: "hooks", synopsis: "[test HOOK [EVENT]]",
            summary: "list the hooks, or test one",
            details: """
                Shows the programs, their events, their last results, and the reason if one does not run. test runs one
                now as if EVENT had happened, with the current state, and shows its output and exit status.
                """,
            examples: [
                ("hooks", "list them"), ("hooks test amplifier active-began", "run one now"),
            ], arity: 0...3, run: Hooks.run)
    ]
}

/// `hooks`.
enum Hooks {
    private static let program = "nowplaying-hooks"

    /// Maximum configurable seconds of a hook, and a few more.
    private static let patience = 3610.0

    /// `hooks` and `hooks test`.
    static func run(_ run: Invocation) throws(Failure) {
        guard let word = run.words.first?.text else { return try list(run) }
        guard word == "test" else {
            throw .usage("hooks needs no argument or \"test NAME\", not \"\(run.words[0].shown)\"", verb: "hooks")
        }
        guard run.words.count > 1 else { throw .usage("no hook given; see: nowplayingctl hooks", verb: "hooks") }
        try test(run, run.words[1].text, run.words.count > 2 ? run.words[2].text : nil)
    }

    private static func call(_ run: Invocation, _ method: String, _ parameters: JSONValue) throws(Failure) -> JSONValue
    {
        do {
            let connection = try Connection(firstOf: SocketLocation.bridge(program))
            return try connection.call(method, parameters, within: try run.timeout() ?? patience)
        } catch let error as Failure { throw error } catch let error as ClientError {
            guard case .noDaemon(let attempts) = error else { throw run.failure(error) }
            var lines = ["\(program) does not answer"]
            for attempt in attempts {
                lines.append("  \(TerminalText.safe(attempt.path)): \(attempt.explanation(of: program))")
            }
            lines.append("Start it: systemctl --user start \(program), or \(program)")
            throw Failure(.noDaemon, lines.joined(separator: "\n"))
        } catch { throw Failure(.general, "\(error)") }
    }

    /// The paths of all hooks.
    static func paths(_ run: Invocation) throws(Failure) -> [String] {
        (try call(run, "hooks.list", [:])["hooks"]?.arrayValue ?? []).compactMap { $0["path"]?.stringValue }
    }

    private static func list(_ run: Invocation) throws(Failure) {
        let result = try call(run, "hooks.list", [:])
        if run.wantsJSON { return run.printJSON(result) }
        let hooks = result["hooks"]?.arrayValue ?? []
        if hooks.isEmpty {
            let folders = result["folders"]?.arrayValue?.compactMap(\.stringValue).map(TerminalText.safe) ?? []
            run.output.line("No hooks. Put programs into " + folders.joined(separator: " or "))
        }
        for hook in hooks {
            func text(_ name: String) -> String { TerminalText.safe(hook[name]?.stringValue ?? "") }
            func words(_ name: String) -> [String] {
                hook[name]?.arrayValue?.compactMap(\.stringValue).map(TerminalText.safe) ?? []
            }
            let events = words("events") == ["*"] ? "all events" : words("events").joined(separator: ", ")
            let command = ([text("path")] + words("arguments")).joined(separator: " ")
            run.output.line("\(run.output.styled(command, .bold))  \(run.output.styled(events, .dim))")
            if let problem = hook["problem"]?.stringValue {
                run.output.line("    " + run.output.styled(TerminalText.safe(problem), .red))
            } else if hook["running"] == true {
                run.output.line("    running")
            } else if let last = hook["last"] {
                run.output.line("    " + outcome(last))
            } else {
                run.output.line("    not run yet")
            }
        }
    }

    private static func outcome(_ result: JSONValue) -> String {
        let words = TerminalText.safe(result["words"]?.stringValue ?? "")
        let event = TerminalText.safe(result["event"]?.stringValue ?? "")
        let seconds = ClockText.number(result["seconds"]?.doubleValue ?? 0, places: 3)
        return "\(event): \(words) after \(seconds) s"
    }

    private static func test(_ run: Invocation, _ name: String, _ event: String?) throws(Failure) {
        var parameters = JSONObject([.init("name", .string(name))])
        parameters["event"] = event.map { .string($0) }
        let result = try call(run, "hooks.test", .object(parameters))
        if run.wantsJSON {
            run.printJSON(result)
        } else {
            for line in (result["output"]?.stringValue ?? "").split(whereSeparator: \.isNewline) {
                run.output.line(TerminalText.safe(String(line)))
            }
            run.output.line(outcome(result))
        }
        if result["success"] != true { throw Failure(.general, "the hook failed") }
    }
}

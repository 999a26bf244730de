import ControlProtocol
import NowPlaying
import NowPlayingClient

extension Commands {
    /// Verbs for remote commands.
    static let verbs = [
        Verb(
            name: "commands", summary: "list the remote commands and their availability",
            examples: [("commands", "all of them")], run: Commands.list),
        Verb(
            name: "configure", synopsis: "COMMAND [OPTIONS]", summary: "configure a remote command",
            options: [
                Option("--intervals", value: "SECONDS,…", "preferred intervals of skip-forward and skip-backward"),
                Option("--rates", value: "RATE,…", "supported rates of change-playback-rate"),
                Option("--enable", "allow the command"), Option("--disable", "refuse the command"),
                Option("--reason", value: "TEXT", "reason that remotes show"),
            ],
            examples: [
                ("configure skip-forward --intervals 15,30", "skip by 15 seconds, and offer 30"),
                ("configure next-track --disable --reason 'the choir sings'", "disable skipping"),
            ], arity: 1...1, run: Commands.configure),
    ]
}

/// `commands` and `configure`.
enum Commands {
    /// `commands`.
    static func list(_ run: Invocation) throws(Failure) {
        let result = try run.call("commands.list")
        if run.wantsJSON { return run.printJSON(result) }
        var rows = [["COMMAND", "ENABLED", "REASON", "PARAMETERS"]]
        let commands = result["commands"]?.arrayValue ?? []
        for command in commands {
            let isEnabled = command["enabled"]?.boolValue ?? false
            rows.append([
                TerminalText.safe(WireName.kebab(command["command"]?.stringValue ?? "")), isEnabled ? "yes" : "no",
                TerminalText.safe(command["reason"]?.stringValue ?? ""), parameters(of: command),
            ])
        }
        let widths = (0..<3).map { column in rows.map { TerminalText.width(of: $0[column]) }.max() ?? 0 }
        for (index, row) in rows.enumerated() {
            var line = ""
            for (column, cell) in row.enumerated() {
                let padding = column < 3 ? widths[column] + 2 - TerminalText.width(of: cell) : 0
                line += cell + String(repeating: " ", count: padding)
            }
            while line.last == " " { line.removeLast() }
            let isEnabled = index > 0 && commands[index - 1]["enabled"] == true
            run.output.line(index > 0 && !isEnabled ? run.output.styled(line, .dim) : line)
        }
    }

    /// Parameters of a command and their values, as text.
    private static func parameters(of command: JSONValue) -> String {
        var notes: [String] = []
        if let intervals = numbers(command["preferredIntervals"]) { notes.append("intervals \(intervals) s") }
        if let rates = numbers(command["supportedPlaybackRates"]) { notes.append("rates \(rates)") }
        for mode in RemoteCommand.modes.compactMap(\.mode) {
            if let word = command[mode.listKey]?.stringValue { notes.append(TerminalText.safe(word)) }
        }
        if let least = command["minimumRating"]?.doubleValue, let most = command["maximumRating"]?.doubleValue {
            notes.append("\(ClockText.number(least)) to \(ClockText.number(most)) stars")
        }
        if command["isActive"] == true { notes.append("active") }
        return notes.joined(separator: ", ")
    }

    /// `configure`.
    static func configure(_ run: Invocation) throws(Failure) {
        var parameters = JSONObject([.init("command", .string(WireName.camel(run.words[0].text)))])
        if run.has("--enable") && run.has("--disable") {
            throw .usage("--enable and --disable exclude each other", verb: "configure")
        }
        if run.has("--enable") { parameters["enabled"] = true }
        if run.has("--disable") { parameters["enabled"] = false }
        if let reason = run.value("--reason") { parameters["reason"] = .string(reason) }
        parameters["preferredIntervals"] = try numbers(run, "--intervals", "seconds above 0, such as 15,30")
        parameters["supportedPlaybackRates"] = try numbers(run, "--rates", "rates above 0, such as 0.5,1,2")
        guard parameters.members.count > 1 else {
            throw .usage("nothing to set; give --intervals, --rates, --enable or --disable", verb: "configure")
        }
        try run.perform("commands.configure", .object(parameters))
    }

    private static func numbers(_ run: Invocation, _ option: String, _ expected: String) throws(Failure) -> JSONValue? {
        guard let text = run.value(option) else { return nil }
        var values: [JSONValue] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let number = ClockText.decimal(part), number > 0 else { throw run.wrong(option, text, expected) }
            values.append(.number(number))
        }
        return .array(values)
    }

    private static func numbers(_ value: JSONValue?) -> String? {
        guard let values = value?.arrayValue, !values.isEmpty else { return nil }
        return values.compactMap(\.doubleValue).map { ClockText.number($0) }.joined(separator: ", ")
    }
}

import ControlProtocol
import NowPlayingClient

extension Verb {
    /// Where it is heard, and what remotes may do.
    static let outputs = [
        Verb(
            name: "outputs", summary: "list where it can be heard", examples: [("outputs", "names and descriptions")],
            run: Outputs.list),
        Verb(
            name: "output", synopsis: "NAME", summary: "play on this output",
            details: "NAME is one that outputs shows, or its number there, from 1.",
            examples: [("output 2", "the second of the list")], arity: 1...1, run: Outputs.select),
        Verb(
            name: "formats", summary: "list the formats of files that play",
            examples: [("formats", "and for the others the Debian package of their decoder")], run: Outputs.formats),
        Verb(
            name: "commands", summary: "list the remote commands and which are possible now",
            examples: [("commands", "all of them")], run: Outputs.commands),
        Verb(
            name: "configure", synopsis: "COMMAND [OPTIONS]", summary: "set what remotes offer for a command",
            options: [
                Option("--intervals", value: "SECONDS,…", "preferred intervals of skipForward and skipBackward"),
                Option("--rates", value: "RATE,…", "supported rates of changePlaybackRate"),
                Option("--enable", "allow the command"), Option("--disable", "refuse the command"),
                Option("--reason", value: "TEXT", "why it is refused"),
            ],
            examples: [
                ("configure skipForward --intervals 15,30", "skip by 15 seconds, and offer 30"),
                ("configure nextTrack --disable --reason 'the choir sings'", "nobody skips"),
            ], arity: 1...1, run: Outputs.configure),
    ]
}

/// `outputs`, `output`, `formats`, `commands`, `configure`.
enum Outputs {
    /// `formats`.
    static func formats(_ run: Invocation) throws(Failure) {
        let result = try run.call("formats.list")
        if run.wantsJSON { return run.printJSON(result) }
        for format in result["formats"]?.arrayValue ?? [] {
            let plays = format["plays"] == true
            let name = TerminalText.safe(format["name"]?.stringValue ?? "")
            let endings = (format["endings"]?.arrayValue ?? []).compactMap(\.stringValue).map { "." + $0 }
            let package = TerminalText.safe(format["package"]?.stringValue ?? "")
            let note = plays ? package : "not played by this version; decoded by \(package)"
            let list = TerminalText.safe(endings.joined(separator: " "))
            run.output.line(
                "\(plays ? "+" : "-") \(run.output.styled(name, plays ? .bold : .dim))  \(list)  (\(note))")
        }
    }

    /// `outputs`.
    static func list(_ run: Invocation) throws(Failure) {
        let result = try run.call("output.list")
        if run.wantsJSON { return run.printJSON(result) }
        let outputs = result["outputs"]?.arrayValue ?? []
        guard !outputs.isEmpty else { throw Failure(.noDevice, StatusText.stall("noOutput")) }
        let current = try run.state().json["output"]?["name"]?.stringValue
        for (index, output) in outputs.enumerated() {
            let name = TerminalText.safe(output["name"]?.stringValue ?? "")
            let description = TerminalText.safe(output["description"]?.stringValue ?? "")
            // Before anything was played it will be the sound server's default.
            let isSelected = current.map { $0 == output["name"]?.stringValue } ?? (output["default"] == true)
            let mark = isSelected ? "*" : " "
            run.output.line(
                "\(mark) \(index + 1)  \(run.output.styled(name, isSelected ? .bold : .dim))  \(description)")
        }
    }

    /// `output`, by name or by number of the list.
    static func select(_ run: Invocation) throws(Failure) {
        var name = run.words[0].text
        if let number = ClockText.integer(name) {
            let outputs = try run.call("output.list")["outputs"]?.arrayValue ?? []
            guard number >= 1, number <= outputs.count, let found = outputs[number - 1]["name"]?.stringValue else {
                throw Failure(.noDevice, "there is no output \(number); see: nowplayingctl outputs")
            }
            name = found
        }
        try run.perform("output.select", ["name": .string(name)])
    }

    /// `commands`.
    static func commands(_ run: Invocation) throws(Failure) {
        let result = try run.call("commands.list")
        if run.wantsJSON { return run.printJSON(result) }
        for command in result["commands"]?.arrayValue ?? [] {
            let name = TerminalText.safe(command["command"]?.stringValue ?? "")
            let isEnabled = command["enabled"]?.boolValue ?? false
            var notes: [String] = []
            if !isEnabled {
                notes.append("not now" + (command["reason"]?.stringValue.map { ": " + TerminalText.safe($0) } ?? ""))
            }
            if let intervals = numbers(command["preferredIntervals"]) { notes.append("intervals \(intervals) s") }
            if let rates = numbers(command["supportedPlaybackRates"]) { notes.append("rates \(rates)") }
            for key in ["currentRepeatMode", "currentShuffleMode"] {
                if let mode = command[key]?.stringValue { notes.append(TerminalText.safe(mode)) }
            }
            let padding = notes.isEmpty ? "" : String(repeating: " ", count: max(1, 24 - name.count))
            let styled = run.output.styled(name, isEnabled ? .bold : .dim)
            run.output.line(styled + padding + notes.joined(separator: ", "))
        }
    }

    /// `configure`.
    static func configure(_ run: Invocation) throws(Failure) {
        var parameters = JSONObject([.init("command", .string(run.words[0].text))])
        if run.has("--enable") && run.has("--disable") {
            throw .usage("--enable and --disable exclude each other", verb: "configure")
        }
        if run.has("--enable") { parameters["enabled"] = true }
        if run.has("--disable") { parameters["enabled"] = false }
        if let reason = run.value("--reason") { parameters["reason"] = .string(reason) }
        parameters["preferredIntervals"] = try list(run, "--intervals", "seconds above 0, such as 15,30")
        parameters["supportedPlaybackRates"] = try list(run, "--rates", "rates above 0, such as 0.5,1,2")
        guard parameters.members.count > 1 else {
            throw .usage("what shall be set? Give --intervals, --rates, --enable or --disable", verb: "configure")
        }
        try run.perform("commands.configure", .object(parameters))
    }

    private static func list(_ run: Invocation, _ option: String, _ expected: String) throws(Failure) -> JSONValue? {
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

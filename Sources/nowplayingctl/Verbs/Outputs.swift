import ControlProtocol
import NowPlayingClient

extension Outputs {
    /// Verbs for outputs and formats.
    static let verbs = [
        Verb(
            name: "outputs", summary: "list the outputs", examples: [("outputs", "names and descriptions")],
            run: Outputs.list),
        Verb(
            name: "output", synopsis: "[OUTPUT] [--delay SECONDS]",
            summary: "show the current output, select another one, or set its delay",
            details: "OUTPUT is a name or a number, from 1, in the list of outputs. With --delay it is not selected.",
            options: [
                Option(
                    "--delay", value: "SECONDS", "seconds of latency of OUTPUT that the sound server does not report")
            ],
            examples: [
                ("output", "show it"), ("output 2", "the second in the list"),
                ("output 2 --delay 0.25", "a television that needs a quarter of a second"),
            ], arity: 0...1, run: Outputs.select),
        Verb(
            name: "formats", summary: "list the audio formats",
            examples: [("formats", "with the Debian package of each missing decoder")], run: Outputs.formats),
    ]
}

/// `outputs`, `output`, `formats`.
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
            let note = plays ? package : "does not play; decoder: \(package)"
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
        for (index, output) in outputs.enumerated() {
            let name = TerminalText.safe(output["name"]?.stringValue ?? "")
            let description = TerminalText.safe(output["description"]?.stringValue ?? "")
            let isCurrent = output["current"] == true
            let mark = isCurrent ? "*" : " "
            run.output.line(
                "\(mark) \(index + 1)  \(run.output.styled(name, isCurrent ? .bold : .dim))  \(description)")
        }
    }

    /// `output`: selects an output by its name or by its number in the list.
    static func select(_ run: Invocation) throws(Failure) {
        let delay = run.value("--delay")
        guard var name = run.words.first?.text else {
            guard delay == nil else {
                throw .usage("--delay needs its output: output OUTPUT --delay SECONDS", verb: run.verb.name)
            }
            return try show(run)
        }
        if let number = ClockText.integer(name) {
            let outputs = try run.call("output.list")["outputs"]?.arrayValue ?? []
            guard number >= 1, number <= outputs.count, let found = outputs[number - 1]["name"]?.stringValue else {
                throw Failure(.noDevice, "there is no output \(number); see: nowplayingctl outputs")
            }
            name = found
        }
        guard let delay else { return try run.perform("output.select", ["name": .string(name)]) }
        guard let seconds = ClockText.decimal(delay[...]) else {
            throw run.wrong("--delay", delay, "seconds, such as 0.25")
        }
        try run.perform("output.delay.set", ["name": .string(name), "delay": .number(seconds)])
    }

    /// `output` without a name: shows the current output. The state has it with more members once something has played there.
    private static func show(_ run: Invocation) throws(Failure) {
        let listed = try run.call("output.list")["outputs"]?.arrayValue?.first { $0["current"] == true }
        let published = try run.state().json["output"]
        let output = listed?["name"] == published?["name"] ? published : listed
        if run.wantsJSON { return run.printJSON(output ?? .null) }
        guard let name = output?["name"]?.stringValue else { throw Failure(.noDevice, "there is no current output") }
        let description = TerminalText.safe(output?["description"]?.stringValue ?? "")
        let delay = output?["delay"]?.doubleValue ?? 0
        run.output.line(
            TerminalText.safe(name) + (description.isEmpty ? "" : "  " + description)
                + (delay == 0 ? "" : "  delay \(ClockText.number(delay)) s"))
    }
}

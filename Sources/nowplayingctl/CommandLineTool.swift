import ControlProtocol
import Glibc
import NowPlaying
import NowPlayingClient

/// The program from its arguments to its exit status.
enum CommandLineTool {
    /// Carries out the command line.
    static func run(_ output: Output) -> ExitStatus {
        let given = CommandLine.unsafeArgv
        let arguments = (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            given[index].map { text in Word(bytes: Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))) }
        }
        var isJSON = false
        do {
            let parsed = try Arguments(arguments, knowing: Verb.allOptions)
            isJSON = parsed.options["--json"] != nil
            return try run(parsed, output)
        } catch {
            if isJSON, let remote = error.remote {
                let answer: JSONValue = [
                    "error": [
                        "code": .integer(Int64(remote.code)), "message": .string(remote.message), "data": remote.data,
                    ]
                ]
                output.line(TerminalText.escapedJSON(JSONWriter.text(answer)))
            }
            output.flush()
            complain(error.message)
            return error.status
        }
    }

    private static func run(_ arguments: Arguments, _ output: Output) throws(Failure) -> ExitStatus {
        if arguments.options["--version"] != nil {
            output.line("nowplayingctl \(Product.version)")
            return .success
        }
        let wantsHelp = arguments.options["--help"] != nil
        // Without a verb, the program shows the status.
        let name = arguments.words.first?.text ?? (wantsHelp ? "help" : "status")
        if name == "help", arguments.words.count < 2 {
            Help.overview(output)
            return .success
        }
        if name == "help" {
            Help.verb(try verb(arguments.words[1].text), output)
            return .success
        }
        var verb = try verb(name)
        if wantsHelp {
            Help.verb(verb, output)
            return .success
        }
        // Messages use the typed name.
        verb.name = name
        try verb.run(Invocation(verb: verb, arguments: arguments, output: output))
        return .success
    }

    private static func verb(_ name: String) throws(Failure) -> Verb {
        if let verb = Verb.named(name) { return verb }
        let nearest = NearestName.suggestion(
            for: name, among: Verb.all.flatMap { [$0.name] + $0.aliases })
        throw .usage(
            "unknown verb \"\(TerminalText.safe(name))\"" + (nearest.map { "; did you mean \($0)?" } ?? ""))
    }
}

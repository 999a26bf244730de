import ControlProtocol
import NowPlayingClient

extension Verb {
    /// The verb for shell completions.
    static let completing = [
        Verb(
            name: "completion", synopsis: "bash | zsh | fish | outputs | sessions | hooks",
            summary: "print a completion script for a shell",
            details: """
                For bash: source <(nowplayingctl completion bash); for fish: nowplayingctl completion fish | source; for zsh,
                write it into a file _nowplayingctl in a folder of $fpath. Packages install them.
                The other words print names, one a line.
                """,
            examples: [("completion fish | source", "in fish"), ("completion outputs", "names for output")],
            arity: 1...1,
            run: Completion.print)
    ]
}

/// `completion`: everything comes from the table of verbs.
enum Completion {
    /// The lines for a shell, or names.
    static func print(_ run: Invocation) throws(Failure) {
        switch run.words[0].text {
        case "bash": run.output.raw(bash())
        case "zsh": run.output.raw(zsh())
        case "fish": run.output.raw(fish())
        case "outputs": names(try run.call("output.list")["outputs"], "name", run)
        case "sessions": names(try run.call("session.list")["sessions"], "name", run)
        case "hooks":
            for path in try Hooks.paths(run) { run.output.line(TerminalText.safe(path)) }
        default: throw run.wrong("completion", run.words[0].text, "bash, zsh, fish, outputs, sessions or hooks")
        }
    }

    private static func names(_ list: JSONValue?, _ key: String, _ run: Invocation) {
        for entry in list?.arrayValue ?? [] {
            if let name = entry[key]?.stringValue { run.output.line(TerminalText.safe(name)) }
        }
    }

    /// Options of all verbs that take a value, by every name.
    static var valued: [String] {
        Verb.allOptions.filter { $0.value != nil }.flatMap(\.names)
    }

    /// Options with what their values are completed with, each with the names that are completed the same way.
    static var valueOffers: [(names: [String], offer: Offer)] {
        var result: [(names: [String], offer: Offer)] = []
        for option in Verb.completed.flatMap(\.options) + Verb.common {
            guard let offer = option.offer, !result.contains(where: { $0.names.contains(option.name) }) else {
                continue
            }
            if let index = result.firstIndex(where: { $0.offer == offer }) {
                result[index].names += option.names
            } else {
                result.append((option.names, offer))
            }
        }
        return result
    }

    /// A word in single quotes of a shell of the Bourne family.
    static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

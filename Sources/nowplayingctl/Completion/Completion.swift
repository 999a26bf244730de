import ControlProtocol
import NowPlayingClient

extension Completion {
    /// The verb for shell completions.
    static let verbs = [
        Verb(
            name: "completion",
            synopsis:
                "bash | zsh | fish | outputs | sessions | hooks | devices | rooms | lists | artists | albums | genres "
                + "| composers | folders [TEXT]",
            summary: "print a completion script for a shell",
            details: """
                For bash: source <(nowplayingctl completion bash); for fish: nowplayingctl completion fish | source; for zsh,
                write it into a file _nowplayingctl in a folder of $fpath. Packages install them.
                The other words print names, one a line, of the library's those that begin with TEXT.
                """,
            examples: [("completion fish | source", "in fish"), ("completion outputs", "names for output")],
            arity: 1...2,
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
        case "devices":
            for id in try Pairing.ids(run) { run.output.line(TerminalText.safe(id)) }
        case "rooms":
            for name in try Rooms.names(run) { run.output.line(TerminalText.safe(name)) }
        case let word:
            guard let kind = LibraryNames(rawValue: word) else {
                throw run.wrong("completion", word, "bash, zsh, fish, or names such as outputs and artists")
            }
            for name in try kind.names(run, run.words.dropFirst().first?.text ?? "") { run.output.line(name) }
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

    /// Offers for the values of options, each with all options that it applies to.
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

    /// Options whose values have another offer in some verbs, with these verbs.
    static var ownOffers: [(verbs: [String], name: String, offer: Offer)] {
        var result: [(verbs: [String], name: String, offer: Offer)] = []
        let usual = valueOffers
        for verb in Verb.completed {
            for option in verb.options {
                guard let offer = option.offer,
                    usual.first(where: { $0.names.contains(option.name) })?.offer != offer
                else { continue }
                if let index = result.firstIndex(where: { $0.name == option.name && $0.offer == offer }) {
                    result[index].verbs += verb.names
                } else {
                    result.append((verb.names, option.name, offer))
                }
            }
        }
        return result
    }

    /// A word in single quotes of a shell of the Bourne family.
    static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

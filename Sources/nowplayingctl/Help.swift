/// Text of `--help`, made from the table of verbs.
enum Help {
    /// Help for the whole program.
    static func overview(_ output: Output) {
        output.line("nowplayingctl: control and follow nowplayingd")
        output.line("")
        output.line("Usage: nowplayingctl [--socket PATH] [--json] [VERB …]\n\nWithout a verb it shows the status.")
        output.line("")
        output.line(output.styled("Verbs", .bold))
        for verb in Verb.all where !verb.isForeign {
            output.line(columns(usage(verb), verb.summary, width: 34))
        }
        output.line("")
        output.line(output.styled("Words of mpc and playerctl", .bold))
        for verb in Verb.all where verb.isForeign {
            output.line(columns(usage(verb), verb.summary, width: 34))
        }
        for verb in Verb.all where !verb.aliases.isEmpty {
            output.line(columns(verb.aliases.joined(separator: ", "), "same as \(verb.name)", width: 34))
        }
        output.line("")
        options(Verb.common, output)
        output.line("")
        output.line(output.styled("Examples", .bold))
        for (line, meaning) in overviewExamples {
            output.line(columns("nowplayingctl \(line)", meaning, width: 50))
        }
        output.line("")
        output.line("A time is in seconds (83, 83.5) or as 1:23.5 or 1:02:03; sleep takes a unit (30m).")
        output.line("Indexes in the queue count from 1.")
        output.line("Help for one verb: nowplayingctl VERB --help. Manual: man nowplayingctl")
    }

    /// Help for one verb.
    static func verb(_ verb: Verb, _ output: Output) {
        output.line("Usage: nowplayingctl " + usage(verb))
        output.line("")
        output.line(verb.summary.prefix(1).uppercased() + verb.summary.dropFirst() + ".")
        if !verb.details.isEmpty { output.line(verb.details) }
        if !verb.aliases.isEmpty { output.line("Also: " + verb.aliases.joined(separator: ", ")) }
        output.line("")
        options(verb.options + Verb.common, output)
        if verb.options.contains(where: { $0.name == "--format" }) {
            output.line("")
            output.line(output.styled("Formats", .bold))
            for line in formats { output.line("  " + line) }
        }
        guard !verb.examples.isEmpty else { return }
        output.line("")
        output.line(output.styled("Examples", .bold))
        for (line, meaning) in verb.examples {
            output.line(columns("nowplayingctl \(line)", meaning, width: 50))
        }
    }

    private static func options(_ options: [Option], _ output: Output) {
        output.line(output.styled("Options", .bold))
        for option in options {
            let names = (option.short.map { $0 + ", " } ?? "") + option.name + (option.value.map { " " + $0 } ?? "")
            output.line(columns(names, option.help, width: 34))
        }
    }

    /// Help text of a verb, wrapped to lines that fit a terminal.
    private static func usage(_ verb: Verb) -> String {
        let whole = verb.name + (verb.synopsis.isEmpty ? "" : " " + verb.synopsis)
        guard whole.count > 90 else { return whole }
        var lines = [""]
        for part in whole.split(separator: "| ", omittingEmptySubsequences: false) {
            if lines[lines.count - 1].count + part.count > 90 { lines.append(" ") }
            lines[lines.count - 1] += (lines[lines.count - 1].count > 1 ? "| " : lines.count > 1 ? "   | " : "") + part
        }
        return lines.map { $0.hasSuffix(" ") ? String($0.dropLast()) : $0 }.joined(separator: "\n")
    }

    private static func columns(_ left: String, _ right: String, width: Int) -> String {
        let padding = width - 2 - left.count
        return padding > 1
            ? "  " + left + String(repeating: " ", count: padding) + right
            : "  " + left + "\n" + String(repeating: " ", count: width) + right
    }

    private static let overviewExamples = [
        ("play ~/Music/tune.flac", "play this file now"),
        ("add ~/Music/album", "add a folder's files at the end of the queue"),
        ("status", "the current item and its position"),
        ("skip -15", "15 seconds back"),
        ("follow --format '{{artist}} - {{title}}'", "a line for every change"),
        ("wait end && echo done", "run a command when the queue ends"),
    ]

    private static let formats = [
        "{{name}} expands to a value: status title artist album albumArtist trackNumber position mpris:length",
        "  volume (0 to 1) and others of playerctl, in its units (position: microseconds); state cause elapsed",
        "  duration remaining in seconds; every field of the state by its path: {{output.description}}",
        "{{f(x)}} applies a function: duration(position) lc(x) uc(x) markup_escape(x) trunc(x, 30)",
        "  default(x, \"none\") emoji(status) emoji(volume); + - * / and parentheses calculate: {{volume * 100}}",
    ]
}

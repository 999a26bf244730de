import Foundation
import Testing

/// The manual page and the completions have every verb and option of the program.
@Suite(.timeLimit(.minutes(1))) struct DocumentTests {
    private static let etc = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("etc")

    private func text(_ name: String) throws -> String {
        try String(contentsOf: DocumentTests.etc.appendingPathComponent(name), encoding: .utf8)
    }

    /// First words of the indented lines of a paragraph of help.
    private func words(_ help: String, under heading: String) -> [String] {
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false).drop { $0 != heading }.dropFirst()
        return lines.prefix { !$0.isEmpty }.filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
            .map { String($0.split(separator: " ")[0]) }
    }

    private func help(_ arguments: [String]) -> String { Tool.run(arguments, socket: nil).output }

    @Test(arguments: [
        "man/nowplayingctl.1", "completions/nowplayingctl.bash", "completions/_nowplayingctl",
        "completions/nowplayingctl.fish",
    ])
    func everyVerbAndOptionIsThere(document: String) throws {
        let text = try text(document)
        let overview = help(["--help"])
        let verbs = words(overview, under: "Verbs")
        #expect(verbs.count >= 25)
        for verb in verbs {
            let isThere = text.contains(".It Cm \(verb)") || text.contains("'\(verb):") || text.contains(" \(verb) ")
            #expect(isThere || text.contains(" \(verb)\n"), "\(verb) in \(document)")
            for option in words(help([verb, "--help"]), under: "Options") where option.hasPrefix("--") {
                let name = option.dropFirst()
                #expect(
                    text.contains("Fl \(name)") || text.contains("-\(name)")
                        || text.contains("--long-option \(name.dropFirst())"), "\(verb) \(option) in \(document)")
            }
        }
    }

    /// The files are what the program prints. With NOWPLAYING_WRITE_MANUAL=1 in the environment they are written anew.
    @Test(arguments: [("bash", "nowplayingctl.bash"), ("zsh", "_nowplayingctl"), ("fish", "nowplayingctl.fish")])
    func theCompletionsAreTheTablesWords(shell: String, file: String) throws {
        let made = Tool.run(["completion", shell], socket: nil)
        #expect(made.status == 0 && made.complaint.isEmpty)
        let name = "completions/" + file
        if ProcessInfo.processInfo.environment["NOWPLAYING_WRITE_MANUAL"] != nil {
            try made.output.write(to: DocumentTests.etc.appendingPathComponent(name), atomically: true, encoding: .utf8)
        } else {
            #expect(
                try text(name) == made.output, "\(name) is out of date: run the tests with NOWPLAYING_WRITE_MANUAL=1")
        }
    }

    @Test func everyVerbHasExamplesThatNameIt() {
        for verb in words(help(["--help"]), under: "Verbs") {
            let help = help([verb, "--help"])
            #expect(help.hasPrefix("Usage: nowplayingctl \(verb)"))
            #expect(help.contains("Examples\n  nowplayingctl \(verb)"), "\(verb)")
        }
    }
}

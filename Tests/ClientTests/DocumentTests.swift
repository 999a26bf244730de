import Foundation
import Testing

/// The manual page and the completions have every verb and option of the program.
@Suite(.timeLimit(.minutes(8))) struct DocumentTests {
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

    @Test(arguments: ["manual", "bash", "zsh", "fish"])
    func everyVerbAndOptionIsThere(document: String) throws {
        let text =
            document == "manual"
            ? try text("man/nowplayingctl.1") : Tool.run(["completion", document], socket: nil).output
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

    @Test func everyVerbHasExamplesThatNameIt() {
        for verb in words(help(["--help"]), under: "Verbs") {
            let help = help([verb, "--help"])
            #expect(help.hasPrefix("Usage: nowplayingctl \(verb)"))
            #expect(help.contains("Examples\n  nowplayingctl \(verb)"), "\(verb)")
        }
    }
}

import Foundation
import Testing

/// Options that every program has.
@Suite struct ProgramOptionTests {
    private static let names = [
        "nowplayingd", "nowplayingctl", "nowplaying-library", "nowplaying-hooks", "nowplaying-mpd", "nowplaying-mpris",
        "nowplaying-mqtt", "nowplaying-snapcast", "nowplaying-web", "nowplaying-tags", "nowplaying-decode",
    ]

    private let home: Scratch

    init() throws { home = try Scratch() }

    /// Output of a program; nil if this machine cannot build the program.
    private func output(_ name: String, _ option: String) throws -> String? {
        let path = try ScriptRun.programs() + "/" + name
        guard FileManager.default.isExecutableFile(atPath: path) else {
            #expect(name == "nowplaying-decode")
            return nil
        }
        let run = try ScriptRun([path, option], in: home)
        #expect(run.status == 0 && run.errors.isEmpty, "\(name) \(option): \(run.errors)")
        return run.text
    }

    @Test(arguments: names) func helpHasTwoNames(_ name: String) throws {
        guard let long = try output(name, "--help") else { return }
        #expect(try output(name, "-h") == long)
        #expect(long.contains(name))
    }

    /// The version is the newest of the changelog.
    @Test(arguments: names) func versionHasTwoNames(_ name: String) throws {
        let changelog = try String(contentsOfFile: ScriptRun.root + "/CHANGELOG.md", encoding: .utf8)
        let newest = try #require(
            changelog.split(separator: "\n").first { $0.hasPrefix("## [") }?.dropFirst(4).prefix { $0 != "]" })
        guard let long = try output(name, "--version") else { return }
        #expect(try output(name, "-V") == long)
        #expect(long == "\(name) \(newest)\n")
    }
}

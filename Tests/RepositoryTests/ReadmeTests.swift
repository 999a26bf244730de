import Foundation
import Testing

/// Every command of the README does what it says, against a real daemon that plays into nothing.
@Suite(.serialized) struct ReadmeTests {
    private let home: Scratch

    init() throws { home = try MarkdownBlock.home() }

    private func blocks() throws -> [MarkdownBlock] { try MarkdownBlock.all(of: "README.md") }

    private func environment() throws -> [String: String] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return [
            "PATH": try ScriptRun.programs() + ":" + path, "HOME": home.path, "XDG_RUNTIME_DIR": home.path,
            "XDG_CONFIG_HOME": home.path,
        ]
    }

    private func run(_ command: [String]) throws -> ScriptRun {
        let environment = try environment()
        return try ScriptRun(
            ["-u", "NOWPLAYING_SOCKET"] + environment.map { "\($0.key)=\($0.value)" } + command, in: home)
    }

    private func withDaemon(_ body: () throws -> Void) throws {
        let daemon = try Child(
            ["nowplayingd", "--output", "null", "--state-directory", home.path + "/state"],
            environment: try environment(), in: home)
        defer {
            kill(daemon.pid, SIGTERM)
            #expect(daemon.wait() == 0)
        }
        // Its own tool waits until it is there.
        let ready = try run([
            "bash", "-c", "until nowplayingctl call hello; do kill -0 \(daemon.pid) || exit 1; done",
        ])
        try #require(ready.status == 0, "\(ready.errors)")
        try body()
        #expect(kill(daemon.pid, 0) == 0)
    }

    private func position() throws -> Double {
        let run = try run(["nowplayingctl", "position"])
        return try #require(
            Double(run.text.trimmingCharacters(in: .whitespacesAndNewlines)), "\(run.text)\(run.errors)")
    }

    /// Runs a block that prints one position while something plays, and holds it against the client's own.
    private func expectPosition(_ command: [String]) throws {
        #expect(try run(["nowplayingctl", "play"]).status == 0)
        let before = try position()
        let result = try run(command)
        let after = try position()
        let printed = try #require(
            Double(result.text.trimmingCharacters(in: .whitespacesAndNewlines)), "\(result.text)\(result.errors)")
        // The tool prints milliseconds, and a wall clock may be corrected meanwhile.
        #expect(printed >= before - 0.01 && printed <= after + 0.01, "\(before) \(printed) \(after)")
    }

    /// A block whose pipelines fail where any part of them does; these are ended on purpose by what stands there.
    private func expectingEnds(_ text: String) -> String {
        let ends = ["| timeout 1 nc": 124, "| head -n 1": 128 + SIGPIPE]
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard let end = ends.first(where: { line.contains($0.key) }) else { return String(line) }
            return line + " || [ $? = \(end.value) ]"
        }.joined(separator: "\n")
    }

    /// Has every program that reads the configuration check it: each knows its own sections.
    private func expectConfiguration(_ text: String) throws {
        try home.write("block.conf", text + "\n")
        for program in ["nowplayingd", "nowplaying-hooks", "nowplaying-mqtt", "nowplaying-mpris"] {
            let run = try run([program, "--config", home.path + "/block.conf", "--check-config"])
            #expect(run.status == 0, "\(program): \(text)\n\(run.errors)")
        }
    }

    @Test func everyCommandWorks() throws {
        var shells: [ScriptRun] = []
        try withDaemon {
            for block in try blocks() {
                switch block.language {
                case "sh" where block.text.contains("position()"):
                    try expectPosition(["bash", "-euo", "pipefail", "-c", block.text])
                case "sh":
                    let run = try run(["bash", "-euo", "pipefail", "-c", expectingEnds(block.text)])
                    #expect(run.status == 0, "\(block.text)\n\(run.text)\(run.errors)")
                    shells.append(run)
                case "python": try expectPosition(["python3", "-c", block.text])
                case "javascript": try expectPosition(["node", "-e", block.text])
                case "ini": try expectConfiguration(block.text)
                case "console": #expect(block.text.contains("make "))
                default: Issue.record("no test runs blocks of \(block.language)")
                }
            }
        }
        try #require(shells.count >= 5)
        let (ten, follow, socket, discover) = (shells[0].text, shells[1].text, shells[3].text, shells[4].text)
        for name in ["album/1", "album/2", "album/3", "single"] {
            #expect(ten.contains(name.split(separator: "/").last!))
        }
        #expect(follow.contains("Playing") && follow.hasSuffix("it plays\n"))
        #expect(shells[2].text.contains("rating                  yes"))
        #expect(socket.contains("\"paused\""))
        #expect(socket.contains("\"rate\":0"))
        #expect(discover.contains("\"elapsed\":12.5") || discover.contains("12.5"))
        #expect(discover.contains("queue.add\n"))
    }

    /// What the README says about files that lie in this repository.
    @Test func whatItNamesIsThere() throws {
        let readme = try String(contentsOfFile: ScriptRun.root + "/README.md", encoding: .utf8)
        for name in ["etc/man", "etc/nowplayingd.conf", "Benchmarks/RESULTS.md", "CHANGELOG.md", "LICENSE"] {
            #expect(readme.contains(name) || name == "LICENSE")
            #expect(FileManager.default.fileExists(atPath: ScriptRun.root + "/" + name), "\(name)")
        }
        let makefile = try String(contentsOfFile: ScriptRun.root + "/Makefile", encoding: .utf8)
        for target in readme.split(separator: "make ").dropFirst().compactMap({ $0.prefix { $0.isLetter } })
        where !target.isEmpty {
            #expect(makefile.contains("\n\(target):"), "make \(target)")
        }
    }
}

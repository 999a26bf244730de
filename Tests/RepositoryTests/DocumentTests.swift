import Foundation
import Testing

/// Runs every command of README.md, CONTRIBUTING.md, SECURITY.md and docs/*.md.
///
/// A block of `sh`, `python` or `javascript` runs against a real daemon that plays into nothing; each document has its own.
/// Beside it runs a real library with some jazz, where a block asks for it.
/// Each program checks a block of `ini`. A block of `console` needs root, other machines or minutes: bash checks its grammar,
/// and its verbs, programs, units and targets exist.
@Suite(.serialized) struct DocumentTests {
    private static let documents = ["README.md", "CONTRIBUTING.md", "SECURITY.md"] + pages

    /// The pages of docs/, in the order of their names.
    private static let pages =
        ((try? FileManager.default.contentsOfDirectory(atPath: ScriptRun.root + "/docs")) ?? [])
        .filter { $0.hasSuffix(".md") }.sorted().map { "docs/" + $0 }

    private let home: Scratch

    init() throws { home = try MarkdownBlock.home() }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: ScriptRun.root + "/" + name, encoding: .utf8)
    }

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
            ["nowplayingd", "--output", "null", "--config", "/dev/null", "--state-directory", home.path + "/state"],
            environment: try environment(), in: home)
        defer {
            kill(daemon.pid, SIGTERM)
            #expect(daemon.wait() == 0)
        }
        // The client itself waits for the daemon.
        let ready = try run([
            "bash", "-c", "until nowplayingctl call hello; do kill -0 \(daemon.pid) || exit 1; done",
        ])
        try #require(ready.status == 0, "\(ready.errors)")
        try body()
        #expect(kill(daemon.pid, 0) == 0)
    }

    /// Runs a library of `Music`, in which some tracks are liked and have five stars.
    private func withLibrary(_ body: () throws -> Void) throws {
        let liked = try MarkdownBlock.addJazz(to: home)
        try home.write(
            "library.conf", "[library]\nfolders = \(home.path)/Music\nstate-directory = \(home.path)/library\n")
        let library = try Child(
            ["nowplaying-library", "--config", home.path + "/library.conf"], environment: try environment(), in: home)
        defer {
            kill(library.pid, SIGTERM)
            #expect(library.wait() == 0)
        }
        let ready = try run(
            [
                "bash", "-c",
                """
                set -e
                until nowplayingctl library > .library 2>&1; do kill -0 \(library.pid); done
                for file; do nowplayingctl like --file "$file"; nowplayingctl rating 5 --file "$file"; done
                nowplayingctl library update --wait
                until [ "$(nowplayingctl find --liked --rating 5 | wc -l)" = $# ]; do kill -0 \(library.pid); done
                """, "bash",
            ] + liked)
        try #require(ready.status == 0, "\(ready.text)\(ready.errors)")
        try body()
        #expect(kill(library.pid, 0) == 0)
    }

    private func position() throws -> Double {
        let run = try run(["nowplayingctl", "position"])
        return try #require(
            Double(run.text.trimmingCharacters(in: .whitespacesAndNewlines)), "\(run.text)\(run.errors)")
    }

    /// Runs a block that prints one position while an item plays, and compares it with the client's own.
    private func expectPosition(_ command: [String]) throws {
        #expect(try run(["nowplayingctl", "play", home.path + "/Music/single.wav"]).status == 0)
        let before = try position()
        let result = try run(command)
        let after = try position()
        let printed = try #require(
            Double(result.text.trimmingCharacters(in: .whitespacesAndNewlines)), "\(result.text)\(result.errors)")
        // The tool prints milliseconds, and a wall clock may be corrected meanwhile.
        #expect(printed >= before - 0.01 && printed <= after + 0.01, "\(before) \(printed) \(after)")
    }

    /// A block whose pipelines fail if any part fails, except for the parts that a reader ends on purpose.
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
        for program in [
            "nowplayingd", "nowplaying-library", "nowplaying-hooks", "nowplaying-mpd", "nowplaying-mqtt",
            "nowplaying-mpris", "nowplaying-snapcast", "nowplaying-web",
        ] {
            let run = try run([program, "--config", home.path + "/block.conf", "--check-config"])
            #expect(run.status == 0, "\(program): \(text)\n\(run.errors)")
        }
    }

    /// Checks the commands of a block that no test can run: their grammar, and the names in them.
    private func expectNames(_ text: String) throws {
        let grammar = try run(["bash", "-nc", text])
        #expect(grammar.status == 0, "\(text)\n\(grammar.errors)")
        let makefile = try self.text("Makefile")
        for line in text.split(separator: "\n") {
            // Without the comment at its end.
            let words = line.split(separator: " ").prefix { !$0.hasPrefix("#") }.map(String.init)
            let own = words.first == "sudo" ? Array(words.dropFirst()) : words
            if own.first == "make" {
                let target = own.dropFirst().first ?? ""
                #expect(makefile.contains("\n\(target):"), "\(line)")
            }
            if own.first == "nowplayingctl" {
                let help = try run(own + ["--help"])
                #expect(help.status == 0, "\(line)\n\(help.errors)")
            }
            if own.first == "systemctl" {
                let folder = own.contains("--user") ? "user" : "system"
                for unit in own where unit.hasPrefix("nowplaying") {
                    let file = unit.contains(".") ? unit : unit + ".service"
                    #expect(exists("etc/systemd/\(folder)/\(file)"), "\(line)")
                }
            }
            if let script = own.first, script.hasPrefix("Scripts/") { #expect(exists(script), "\(line)") }
        }
    }

    private func exists(_ name: some StringProtocol) -> Bool {
        FileManager.default.fileExists(atPath: "\(ScriptRun.root)/\(name)")
    }

    @Test(arguments: documents) func everyCommandWorks(_ name: String) throws {
        let blocks = try MarkdownBlock.all(of: name)
        var output = ""
        func runBlocks() throws {
            for block in blocks {
                switch block.language {
                case "sh" where block.text.contains("position()"):
                    try expectPosition(["bash", "-euo", "pipefail", "-c", block.text])
                case "sh":
                    let run = try run(["bash", "-euo", "pipefail", "-c", expectingEnds(block.text)])
                    #expect(run.status == 0, "\(name): \(block.text)\n\(run.text)\(run.errors)")
                    output += run.text
                case "python": try expectPosition(["python3", "-c", block.text])
                case "javascript": try expectPosition(["node", "-e", block.text])
                case "ini": try expectConfiguration(block.text)
                case "console": try expectNames(block.text)
                case "yaml": #expect(block.text.contains("!include nowplayingd.yaml"))
                case "text": break
                default: Issue.record("\(name): no test runs blocks of \(block.language)")
                }
            }
        }
        let needsDaemon = blocks.contains { ["sh", "python", "javascript"].contains($0.language) }
        let needsLibrary = blocks.contains { $0.language == "sh" && $0.text.contains("nowplayingctl search") }
        switch (needsDaemon, needsLibrary) {
        case (_, true): try withDaemon { try withLibrary(runBlocks) }
        case (true, false): try withDaemon(runBlocks)
        case (false, false): try runBlocks()
        }
        for text in Self.shown[name] ?? [] { #expect(output.contains(text), "\(name): \(text)\n\(output)") }
    }

    /// Text that the commands of a document print.
    private static let shown = [
        "README.md": ["     4  single", "Playing", "it plays\n", "\"paused\"", "Kind of Blue – Miles Davis (1959)"],
        "docs/guide.md": [
            "Playing", "it plays\n", "rating                    yes", "\"rate\":0", "12.5", "queue.add\n", "night",
            "/artwork/", "{\"value\":false,\"reason\":\"rate\"}", "Kind of Blue – Miles Davis (1959)",
            "Ella Fitzgerald: Ella in Rome 1 2:00", "14 tracks, 26 minutes", "Kind of Blue/\n",
            "Music/mix.m3u8  a file of the library, read-only", "  single  2:00",
        ],
        "docs/troubleshooting.md": ["ok       daemon", "note     media", "main"],
        "docs/from-mpd.md": ["     2  single"],
    ]

    /// The README is short, and has its parts in a fixed order.
    @Test func theReadmeIsShort() throws {
        let readme = try text("README.md")
        #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 151)
        let headings = readme.split(separator: "\n").filter { $0.hasPrefix("## ") }.map { $0.dropFirst(3) }
        #expect(
            headings == [
                "Quick start", "Comparison with other players", "Install", "Everyday use", "Documentation", "Limits",
                "Licence",
            ])
        #expect(readme.contains("](docs/top.png)"))
        for page in Self.pages { #expect(readme.contains("](\(page))"), "\(page)") }
        for name in ["etc/man", "etc/nowplayingd.conf", "etc/recipes"] { #expect(readme.contains("`\(name)`")) }
    }

    /// Links lead to files that are installed with the documents, and to headings that exist.
    @Test(arguments: documents + ["CHANGELOG.md"]) func linksLeadSomewhere(_ name: String) throws {
        let folder = name.split(separator: "/").dropLast().joined(separator: "/")
        for part in try text(name).components(separatedBy: "](").dropFirst() {
            let target = part.prefix { $0 != ")" }
            if target.hasPrefix("https://") { continue }
            let ends = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let file = ends[0].isEmpty ? name : (folder.isEmpty ? "" : folder + "/") + String(ends[0])
            let path = file.hasPrefix("docs/../") ? String(file.dropFirst(8)) : file
            #expect(exists(path), "\(name): \(target)")
            #expect(path.hasPrefix("docs/") || (path.hasSuffix(".md") && !path.contains("/")), "\(name): \(target)")
            guard ends.count == 2 else { continue }
            let anchors = try text(path).split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
                heading.drop { $0 == "#" || $0 == " " }.lowercased().filter {
                    $0.isLetter || $0.isNumber || " -".contains($0)
                }
                .replacingOccurrences(of: " ", with: "-")
            }
            #expect(anchors.contains(String(ends[1])), "\(name): \(target)")
        }
    }

    /// Files, targets and manual pages that the documents name exist.
    @Test(arguments: documents) func whatItNamesIsThere(_ name: String) throws {
        let document = try text(name)
        let makefile = try text("Makefile")
        for (place, piece) in document.components(separatedBy: "`").enumerated() where place % 2 == 1 {
            let first = piece.split { " =(:".contains($0) }.first ?? ""
            if ["etc/", "Scripts/", "Tests/", "Sources/", "Benchmarks/", "docs/"].contains(where: piece.hasPrefix) {
                #expect(first.contains("*") || exists(first), "\(name): \(piece)")
            }
            if piece.hasPrefix("make "), let target = piece.split(separator: " ").dropFirst().first {
                #expect(makefile.contains("\n\(target):"), "\(name): \(piece)")
            }
        }
    }

    /// Phrases that CONTRIBUTING.md, section Style, replaces. That document quotes them.
    private static let unwanted = [
        "told", "tells everybody", "heard of", "let go", "come true", "comes true", "behind the queue", "goes on",
        "go on",
        "taken back", "what it takes", "whoever", "whom", "so long", "entries",
    ]

    @Test(arguments: ["README.md", "SECURITY.md"] + pages) func theStyleIsPlain(_ name: String) throws {
        let prose = try text(name).lowercased().replacingOccurrences(of: "\n", with: " ")
            .replacingOccurrences(of: "which player for whom", with: "")
        for phrase in Self.unwanted {
            let pattern = "\\b" + NSRegularExpression.escapedPattern(for: phrase) + "\\b"
            #expect(prose.range(of: pattern, options: .regularExpression) == nil, "\(name): \(phrase)")
        }
    }
}

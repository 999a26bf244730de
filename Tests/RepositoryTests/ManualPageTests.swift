import Foundation
import Testing

/// The examples of the manual pages, and the words of the table for users of mpc: each runs beside a real daemon that plays
/// into nothing.
@Suite(.serialized) struct ManualPageTests {
    private let home: Scratch

    init() throws { home = try MarkdownBlock.home() }

    /// Runs lines in a shell beside a daemon.
    private func run(_ script: String) throws -> ScriptRun {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let environment = [
            "PATH": "\(home.path)/bin:\(try ScriptRun.programs()):\(path)", "HOME": home.path,
            "XDG_RUNTIME_DIR": home.path, "XDG_CONFIG_HOME": home.path + "/.config", "LANG": "C.UTF-8",
        ]
        return try ScriptRun(
            ["env", "-u", "NOWPLAYING_SOCKET"] + environment.map { "\($0.key)=\($0.value)" }
                + [
                    "bash", "-uc",
                    """
                    nowplayingd --output null --state-directory "$HOME/state" --config /dev/null 2> "$HOME/log" & daemon=$!
                    trap 'kill $daemon; wait $daemon' EXIT
                    until nowplayingctl call hello > /dev/null 2>&1; do kill -0 $daemon; done
                    try() { echo "$1"; (cd ~/Music && eval "$1") > ~/out 2>&1; status=$?; case " 0 ${2:-} " in
                        *" $status "*) ;; *) echo "status $status: $1" >&2; cat ~/out >&2 ;; esac; }
                    \(script)
                    """,
                ], in: home)
    }

    /// Command lines of a page: the text after a prompt.
    private func commands(_ page: String) throws -> [String] {
        try String(contentsOfFile: ScriptRun.root + "/etc/man/" + page, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix(".Dl $ ") }
            .map {
                $0.dropFirst(6).replacingOccurrences(of: "\\(dq", with: "\"").replacingOccurrences(
                    of: "\\e", with: "\\")
            }
    }

    private func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }

    @Test func theExamplesOfThePages() throws {
        try home.write("Music/new.conf", "[daemon]\nlog-level = debug\n")
        try home.write("bin/amplifier", "#!/bin/sh\necho amplifier $*\n", executable: true)
        let all = try commands("nowplayingctl.1") + commands("nowplayingd.1")
        #expect(all.count >= 10, "\(all)")
        var script = "cp ~/Music/single.wav ~/Music/tune.flac; head -c 4044 ~/Music/single.wav > ~/Music/short.wav\n"
        for command in all {
            // Commands that run until an interrupt get one here. A second daemon has a folder of its own.
            var allowed = ""
            var line = command
            if line.contains(" follow ") || line.contains("--watch") {
                line = line.replacingOccurrences(of: "nowplayingctl", with: "timeout --signal=INT 0.4 nowplayingctl")
                allowed = "124 130"
            } else if line.hasPrefix("nowplayingd"), !line.contains("--check-config") {
                line =
                    "timeout --preserve-status 0.6 " + line.replacingOccurrences(of: " &", with: "")
                    + " --socket ~/other.sock --state-directory ~/other-state --config /dev/null"
                line = line.replacingOccurrences(of: "/tmp/heard.wav", with: "~/heard.wav")
                // It may be ended before it is up.
                allowed = "143"
            } else if line.contains(" wait end") {
                script += "try 'nowplayingctl play ~/Music/short.wav'\n"
            }
            script += "try \(quoted(line)) '\(allowed)'\n"
        }
        let run = try run(script)
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(run.text.split(separator: "\n").count >= all.count)
    }

    /// The configurations that the pages show are valid for every program that reads them.
    @Test func theConfigurationExamples() throws {
        let programs = try ScriptRun.programs()
        var count = 0
        for page in [
            "nowplayingd.conf.5", "nowplaying-hooks.1", "nowplaying-mqtt.1", "nowplaying-library.1", "nowplaying-mpd.1",
            "nowplaying-web.1",
        ] {
            let text = try String(contentsOfFile: ScriptRun.root + "/etc/man/" + page, encoding: .utf8)
            for block in text.components(separatedBy: ".Bd -literal -offset indent\n").dropFirst() {
                let example = block.components(separatedBy: ".Ed\n")[0]
                guard example.hasPrefix("[") else { continue }
                try home.write("example.conf", example)
                for program in [
                    "nowplayingd", "nowplaying-library", "nowplaying-hooks", "nowplaying-mpd", "nowplaying-mpris",
                    "nowplaying-mqtt", "nowplaying-snapcast", "nowplaying-web",
                ] {
                    let words = ["\(programs)/\(program)", "--config", home.path + "/example.conf", "--check-config"]
                    let checked = try ScriptRun(words, in: home)
                    #expect(checked.status == 0, "\(page), \(program): \(checked.errors)")
                }
                count += 1
            }
        }
        #expect(count >= 6)
    }

    @Test func theTableOfWords() throws {
        let table = try String(contentsOfFile: ScriptRun.root + "/etc/recipes/from-mpc.md", encoding: .utf8)
        let rows = table.split(separator: "\n").filter { $0.hasPrefix("| `mpc ") }
        #expect(rows.count >= 15)
        var script = ""
        var count = 0
        for row in rows {
            let cells = row.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            func code(_ cell: String) -> [String] {
                cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                    .filter { $0.offset % 2 == 1 }.map { String($0.element) }
            }
            let isSame = cells[2].trimmingCharacters(in: .whitespaces) == "the same"
            for word in code(cells[isSame ? 1 : 2]) {
                var line = isSame ? word.replacingOccurrences(of: "mpc ", with: "nowplayingctl ") : word
                if !line.hasPrefix("nowplayingctl ") { line = "nowplayingctl " + line }
                let parts = line.split(separator: " ")
                if parts.last == "x" { line = parts.dropLast().joined(separator: " ") + " ~/Music/single.wav" }
                var allowed = ""
                if line.contains(" follow") || line.contains(" wait ") {
                    line = "timeout 0.4 " + line
                    allowed = "124"
                }
                if line == "nowplayingctl output 2" { line = "nowplayingctl output 1" }
                script += "nowplayingctl play ~/Music/album; try \(quoted(line)) '\(allowed)'\n"
                count += 1
            }
        }
        #expect(count >= 28)
        let run = try run(script)
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    }

    /// Verbs and options that the documents name in the middle of a sentence exist.
    @Test func whatIsNamedInPassing() throws {
        var script = ""
        var count = 0
        let pages = try FileManager.default.contentsOfDirectory(atPath: ScriptRun.root + "/docs")
            .filter { $0.hasSuffix(".md") }.sorted().map { "docs/" + $0 }
        let documents = [
            "README.md", "CHANGELOG.md", "etc/recipes/README.md", "etc/recipes/from-mpc.md", "etc/adapters/README.md",
        ]
        for document in documents + pages {
            let text = try String(contentsOfFile: ScriptRun.root + "/" + document, encoding: .utf8)
                .replacingOccurrences(of: "\n", with: " ")
            for piece in text.split(separator: "`") where piece.hasPrefix("nowplayingctl ") {
                // A pipe or a redirection belongs to another program.
                let own = piece.prefix { !"|<>&;".contains($0) }
                script += "try \(quoted(own + " --help")) ''\n"
                count += 1
            }
        }
        #expect(count >= 20)
        let run = try run(script)
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    }
}

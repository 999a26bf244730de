import ControlProtocol
import Glibc
import TestSupport
import Testing

/// `add --from` of the real client with the real daemon.
@Suite(.timeLimit(.minutes(8))) struct ListTests {
    private let folder = TemporaryFolder()

    private func sound(_ name: String) -> String {
        folder.write(AudioMaterial.noise(frames: 800, sampleRate: 8000, channels: 1).wave(), name)
    }

    /// Runs the client by a shell in the folder, with its words in quotes.
    private func tool(_ words: String, _ daemon: RealDaemon) -> (status: Int32, output: String, complaint: String) {
        let child = ChildProgram(
            ["sh", "-c", "cd '\(folder.path)' && \(words.replacing("ctl", with: Tool.program))"],
            environment: ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "NOWPLAYING_SOCKET": daemon.socket],
            outputPath: nil)
        var (output, complaint): ([UInt8], [UInt8]) = ([], [])
        while ChildProgram.read(child.output, into: &output) {}
        while ChildProgram.read(child.complaint, into: &complaint) {}
        return (child.wait(), String(decoding: output, as: UTF8.self), String(decoding: complaint, as: UTF8.self))
    }

    private func list(_ lines: [String]) {
        _ = folder.write(Array((lines.joined(separator: "\n") + "\n").utf8), "names")
    }

    private func count(_ daemon: RealDaemon) -> String {
        Tool.run(["status", "-f", "{{queue.count}}"], socket: daemon.socket).output
    }

    @Test("a file names files by relative and strange names, addresses and JSON; standard input does the same")
    func names() {
        let daemon = RealDaemon(folder)
        for name in ["a.wav", "b \"c\" \\d.wav", "ä.wav"] { _ = sound(name) }
        let file = sound("e.wav")
        list([
            "a.wav", "", "./b \"c\" \\d.wav\r", "ä.wav", "http://192.0.2.1/x.flac",
            "{\"uri\": \"\(file)\", \"title\": \"Given\"}", "\"\(file)\"", file,
        ])
        let added = tool("ctl add --from names", daemon)
        #expect(added.status == 0, "\(added.complaint)")
        let all = Tool.run(["queue", "-f", "{{number}} {{title}}"], socket: daemon.socket).output
        #expect(all == "1 a\n2 b \"c\" \\d\n3 ä\n4 http://192.0.2.1/x.flac\n5 Given\n6 e\n7 e\n")
        let next = tool("ctl add --at 1 --from - < names", daemon)
        #expect(next.status == 0 && next.output.isEmpty, "\(next.complaint)")
        #expect(count(daemon) == "14\n")
        let asJSON = tool("tail -n 1 names | ctl add --json --from -", daemon)
        #expect(asJSON.output.contains("\"count\":1") && asJSON.output.contains("\"firstId\":15"))
    }

    @Test("absolute paths of every shape name their files; the last line needs no end")
    func absolutePaths() {
        let daemon = RealDaemon(folder)
        let names = ["a.wav", ".h.wav", "b \"c\" \\d.wav", "p%20q#track=1.wav", "ä.wav", "s.d.wav"]
        for name in names { _ = sound(name) }
        let lines =
            names.map { "\(folder.path)/\($0)" }
            + ["\(folder.path)//a.wav", "\(folder.path)/./a.wav", "\(folder.path)/a.wav\r", "", "\(folder.path)/a.wav"]
        _ = folder.write(Array(lines.joined(separator: "\n").utf8), "names")
        let added = tool("ctl add --from names", daemon)
        #expect(added.status == 0, "\(added.complaint)")
        let all = Tool.run(["queue", "-f", "{{title}}"], socket: daemon.socket).output
        #expect(all == "a\n.h\nb \"c\" \\d\np%20q#track=1\nä\ns.d\na\na\na\na\n")
    }

    @Test(
        "a line that is refused is named by its number, and nothing is added",
        arguments: [
            ("missing.wav", Int32(3)), ("/dev/null", 3), ("{\"uri\": \"a.wav\", \"titel\": \"x\"}", 2),
            ("{\"uri\": 5}", 2), ("{\"uri\": ", 2), ("\"a.wav\" x", 2),
        ])
    func badLine(line: String, status: Int32) {
        let daemon = RealDaemon(folder)
        _ = sound("a.wav")
        list(["a.wav", "", "a.wav", line, "a.wav"])
        let refused = tool("ctl add --strict --from names", daemon)
        #expect(refused.status == status, "\(refused.complaint)")
        #expect(refused.complaint.contains("line 4 of the list"), "\(refused.complaint)")
        if line.contains("titel") { #expect(refused.complaint.contains("title"), "\(refused.complaint)") }
        #expect(count(daemon) == "0\n")
    }

    @Test("a file that is not there is left out and named by its line", arguments: ["missing.wav", "/dev/null"])
    func missingFile(line: String) {
        let daemon = RealDaemon(folder)
        _ = sound("a.wav")
        list(["a.wav", "", "a.wav", line, "a.wav"])
        let added = tool("ctl add --from names", daemon)
        #expect(added.status == 0, "\(added.complaint)")
        #expect(added.complaint.contains("left out: line 4"), "\(added.complaint)")
        #expect(count(daemon) == "3\n")
    }

    @Test("what can't be read as a list is refused in words")
    func noList() {
        let daemon = RealDaemon(folder)
        for (words, part) in [
            ("ctl add --from missing", "missing"), ("ctl add --from .", "directory"),
            ("ctl add --from names a", "exclude"),
            ("ctl add --from - < /dev/null", "no items"),
        ] {
            let refused = tool(words, daemon)
            #expect(refused.status != 0 && refused.complaint.contains(part), "\(words): \(refused.complaint)")
        }
        #expect(count(daemon) == "0\n")
    }

    @Test("a hundred thousand lines are one change, and a kill right after it loses none")
    func many() {
        let lines = 100_000
        do {
            let daemon = RealDaemon(folder)
            list((0..<lines).map { "http://192.0.2.1/\($0).flac" })
            let added = tool("ctl add --json --from names", daemon)
            #expect(added.status == 0, "\(added.complaint)")
            #expect(added.output.contains("\"count\":\(lines)") && added.output.contains("\"version\":1"))
            daemon.kill()
        }
        let again = RealDaemon(folder)
        #expect(count(again) == "\(lines)\n")
        let last = Tool.run(["queue", "-f", "{{uri}}"], socket: again.socket).output
        #expect(last.hasSuffix("http://192.0.2.1/\(lines - 1).flac\n"))
        #expect(last.split(separator: "\n").count == lines)
    }
}

import ControlProtocol
import TestSupport
import Testing

/// `library loudness`, through the real program.
@Suite(.timeLimit(.minutes(8))) struct LibraryLoudnessTests {
    private let folder = TemporaryFolder()

    /// The result of a run beside a library with this member of its status; nil: it has none, and answers `method`.
    private func run(
        _ line: String, _ loudness: JSONValue?, method: FakeDaemon.Reply = .error(-32601, "there is no method", [:])
    ) -> (outcome: Tool.Outcome, requests: [String]) {
        let library = FakeDaemon(folder.path("library.sock")) { name, _ in
            guard name == "library.status" else { return method }
            var status = JSONObject([.init("tracks", 5), .init("scan", .null)])
            status["loudness"] = loudness
            return .result(.object(status))
        }
        defer { library.stop() }
        let words = line.split(separator: " ").map(String.init)
        return (Tool.run(words, socket: folder.path("control.sock")), library.requests)
    }

    @Test(arguments: [
        (
            #"{"done":1204,"total":5310,"state":"measuring","failed":3,"uri":"file:///m/So%20What%1B%0A.flac"}"#,
            "loudness: measuring, 1204 of 5310 files, 22 %, 3 failed\n    reading So What\u{FFFD} .flac\n"
        ),
        (#"{"done":0,"total":1,"state":"measuring","failed":0}"#, "loudness: measuring, 0 of 1 file, 0 %\n"),
        (
            #"{"done":10,"total":20,"state":"waiting","failed":0}"#,
            """
            loudness: waiting, 10 of 20 files, 50 %
                the rest follows after the next scan or play of its folder: nowplayingctl library update

            """
        ),
        (
            #"{"done":10,"total":20,"state":"paused","failed":0}"#,
            "loudness: paused, 10 of 20 files, 50 %\n    continue: nowplayingctl library loudness resume\n"
        ),
        (
            #"{"done":0,"total":0,"state":"paused","failed":0}"#,
            "loudness: paused\n    continue: nowplayingctl library loudness resume\n"
        ),
        (#"{"done":5310,"total":5310,"state":"complete","failed":3}"#, "loudness: measured, 5310 files, 3 failed\n"),
        (#"{"done":0,"total":0,"state":"complete","failed":0}"#, "loudness: in the tags of all files\n"),
        (
            #"{"done":0,"total":20,"state":"unavailable","failed":0,"problem":"no libav\u001b[2J"}"#,
            "loudness: not measured: no libav\u{FFFD}[2J\n    see what helps: nowplayingctl doctor\n"
        ),
        // Other programs may say anything.
        (
            #"{"done":9223372036854775807,"total":2,"state":"a\u001b","failed":-1}"#,
            "loudness: a\u{FFFD}, 9223372036854775807 of 2 files, 100 %\n"
        ),
    ])
    func whatIsPrinted(loudness: String, text: String) throws {
        let json = try JSONReader.read(loudness)
        let shown = run("library loudness", json)
        #expect(shown.outcome.output == text && shown.outcome.status == 0, "\(shown.outcome.complaint)")
        #expect(shown.requests == ["library.status {}"])
        // The state of the library has the first line alone.
        let first = text.split(separator: "\n")[0]
        let lines = run("library", json).outcome.output.split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("loudness: ") } == [first])
        let answer = run("library loudness --json", json).outcome.output
        #expect(try JSONReader.read(answer) == json)
        #expect(answer.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
    }

    @Test(arguments: [("pause", true), ("resume", false)])
    func itIsPausedAndResumed(word: String, paused: Bool) throws {
        let answer: JSONValue = ["done": 1, "total": 2, "state": "waiting", "failed": 0]
        let request = #"library.loudness {"paused":\#(paused)}"#
        let plain = run("library loudness " + word, answer, method: .result(answer))
        #expect(plain.outcome.status == 0 && plain.outcome.output.isEmpty, "\(plain.outcome.complaint)")
        #expect(plain.requests == [request])
        let json = run("library loudness --json " + word, answer, method: .result(answer))
        #expect(try JSONReader.read(json.outcome.output) == answer && json.requests == [request])
        let denied = run("library loudness " + word, answer, method: .error(403, "it needs the role control", [:]))
        #expect(denied.outcome.status == 7 && denied.outcome.complaint.contains("it needs the role control"))
    }

    @Test(arguments: ["library loudness", "library loudness pause", "library loudness resume"])
    func anOlderLibrary(line: String) {
        let (outcome, _) = run(line, nil)
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        #expect(outcome.complaint.contains("older than nowplayingctl, and does not measure loudness"))
        #expect(outcome.complaint.contains("systemctl --user restart nowplaying-library"), "\(outcome.complaint)")
        // Its state has no line of it.
        let state = run("library", nil).outcome
        #expect(state.status == 0 && !state.output.contains("loudness"), "\(state.complaint)")
    }

    /// A user who sees only a part of the library: the method refuses, or answers without a state.
    @Test func onlyAPartIsVisible() {
        for reply: FakeDaemon.Reply in [.error(403, "you may not", [:]), .result([:])] {
            let (outcome, requests) = run("library loudness", nil, method: reply)
            #expect(outcome.status == 7 && outcome.output.isEmpty)
            #expect(outcome.complaint.contains("only a part"), "\(outcome.complaint)")
            #expect(requests == ["library.status {}", "library.loudness {}"])
        }
    }

    /// A library that is not ready, as after an update of the program, says so itself.
    @Test func aLibraryThatIsNotReady() {
        let reply = FakeDaemon.Reply.error(200, "the library brings its database up to date", ["reason": "unavailable"])
        let (outcome, _) = run("library loudness", nil, method: reply)
        #expect(outcome.status == 1 && outcome.complaint.contains("up to date"), "\(outcome.complaint)")
    }

    @Test(arguments: [
        ("library loudness stop", "pause or resume"), ("library loudness --wait", "--wait is for library update"),
        ("library loudness pause now", "takes no"), ("library loudnes", "loudness [pause|resume]"),
    ])
    func mistakes(line: String, part: String) {
        let (outcome, requests) = run(line, nil)
        #expect(outcome.status == 2 && outcome.complaint.contains(part), "\(outcome.complaint)")
        #expect(outcome.output.isEmpty && requests.isEmpty)
    }
}

import ControlProtocol
import Glibc
import TestSupport
import Testing

/// `follow`, `watch` and `wait`, through the real program.
@Suite(.timeLimit(.minutes(8))) struct FollowTests {
    private let folder = TemporaryFolder()

    private func daemon(_ socket: String, _ snapshot: JSONValue = Sample.state(state: "paused", elapsed: 83, rate: 0))
        -> FakeDaemon
    {
        FakeDaemon(socket) { _, _ in .result(snapshot) }
    }

    @Test func aLineForEveryEvent() {
        let socket = folder.path("follow.sock")
        let daemon = daemon(socket)
        let tool = Tool(["follow"], socket: socket)
        #expect(tool.line() == "snapshot    paused    1:23 / 3:20  Miles Davis – So What")
        daemon.publish(Sample.state(cause: "volume", state: "paused", elapsed: 83, rate: 0))
        #expect(tool.line() == "volume      paused    1:23 / 3:20  volume 80 %")
        daemon.publish(
            Sample.state(cause: "track", rate: 0, title: "a\n\u{1B}]0;x\u{07}", changes: ["reason": "ended"]))
        #expect(tool.line() == "track       playing   0:00 / 3:20  Miles Davis – a \u{FFFD}]0;x\u{FFFD} (ended)")
        #expect(daemon.requests == ["nowPlaying.subscribe"])
    }

    @Test func statesAsJSONAndFormats() throws {
        let socket = folder.path("json.sock")
        let daemon = daemon(socket)
        let json = Tool(["follow", "--json"], socket: socket)
        let first = try JSONReader.read(try #require(json.line()))
        #expect(first["cause"] == "snapshot")
        #expect(first["item"]?["title"] == "So What")
        let format = Tool(["follow", "-f", "{{status}} {{artist}} - {{title}} {{duration(position)}}"], socket: socket)
        #expect(format.line() == "Paused Miles Davis - So What 1:23")
        daemon.publish(Sample.state(cause: "seek", state: "paused", elapsed: 3, rate: 0), to: 2)
        #expect(format.line() == "Paused Miles Davis - So What 0:03")
        #expect(try JSONReader.read(try #require(json.line()))["cause"] == "seek")
        #expect(daemon.requests.count == 2)
    }

    @Test func itSurvivesTheDaemonsRestart() {
        let inner = folder.path("run")
        mkdir(inner, 0o755)
        let socket = inner + "/control.sock"
        let first = daemon(socket)
        let tool = Tool(["follow", "-f", "{{cause}} {{title}}"], socket: socket)
        #expect(tool.line() == "snapshot So What")
        first.stop()
        #expect(tool.complained(of: "the daemon has ended"))
        // Twice: once with the folder gone as well.
        let second = daemon(socket, Sample.state(title: "Blue in Green"))
        #expect(tool.line() == "snapshot Blue in Green")
        second.stop()
        rmdir(inner)
        mkdir(inner, 0o755)
        let third = daemon(socket, Sample.state(title: "All Blues"))
        #expect(tool.line() == "snapshot All Blues")
        third.publish(Sample.state(cause: "pause", state: "paused", title: "All Blues"))
        #expect(tool.line() == "pause All Blues")
    }

    @Test func aWaiterSurvivesTheDaemonsRestart() {
        let socket = folder.path("waiter.sock")
        let first = daemon(socket)
        let tool = Tool(["wait", "end", "--next"], socket: socket)
        while first.requests.isEmpty { sched_yield() }
        first.stop()
        let second = daemon(socket)
        second.publish(Sample.ended())
        #expect(tool.outcome().status == 0)
    }

    @Test func aReaderThatGoesAwayEndsItQuietly() {
        let socket = folder.path("head.sock")
        let daemon = daemon(socket)
        let script = "\"$0\" follow | head -1; exit ${PIPESTATUS[0]}"
        let outcome = Tool.run(["-c", script, Tool.program], socket: socket, environment: ["PROGRAM": "/bin/bash"])
        #expect(outcome.status == 128 + SIGPIPE)
        #expect(outcome.output.hasPrefix("snapshot"))
        #expect(outcome.complaint.isEmpty)
        #expect(daemon.requests.count == 1)
    }

    @Test func linesForABarMoveWithTheAnchorAlone() {
        let socket = folder.path("tick.sock")
        let daemon = daemon(socket, Sample.state(elapsed: 59.9))
        let tool = Tool(["follow", "--tick", "-f", "{{duration(position)}}"], socket: socket)
        #expect(tool.line() == "0:59")
        #expect(tool.line() == "1:00")
        daemon.publish(Sample.state(cause: "pause", state: "paused", elapsed: 60.5, rate: 0))
        #expect(tool.line() == "1:00")
        #expect(daemon.requests == ["nowPlaying.subscribe"])
    }

    @Test func watchEndsWithTheQueue() {
        let socket = folder.path("watch.sock")
        let daemon = daemon(socket, Sample.state())
        let tool = Tool(["watch"], socket: socket)
        #expect(tool.line()?.hasPrefix("snapshot") == true)
        daemon.publish(Sample.ended())
        let outcome = tool.outcome()
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("stop"))
    }

    @Test func watchTellsThatNothingCouldBePlayed() {
        let socket = folder.path("nothing.sock")
        let error: JSONValue = ["uri": "/m/a.flac", "status": "noSuchContent", "message": "no audio in it", "count": 3]
        let daemon = daemon(socket, Sample.ended(["error": error]))
        let outcome = Tool.run(["watch"], socket: socket)
        #expect(outcome.status == 1)
        #expect(outcome.complaint.contains("no item could be played: a.flac: no audio in it (3 items in a row)"))
        #expect(daemon.requests == ["nowPlaying.subscribe"])
    }

    @Test func playCanWatchAtOnce() {
        let socket = folder.path("playwatch.sock")
        let daemon = FakeDaemon(socket) { method, _ in
            method == "play" ? .result(["status": "success", "state": "playing"]) : .result(Sample.ended())
        }
        #expect(Tool.run(["play", "--watch", "/m/a.flac"], socket: socket).status == 0)
        #expect(daemon.requests == [#"play {"uri":"/m/a.flac"}"#, "nowPlaying.subscribe"])
    }

    @Test(arguments: [
        ("pause", true), ("play", false), ("stop", false), ("track", false), ("end", false),
    ])
    func waitKnowsThePresent(word: String, isSo: Bool) {
        let socket = folder.path("present.sock")
        let daemon = daemon(socket)
        let outcome = Tool.run(["wait", word, "--timeout", isSo ? "60" : "0.05"], socket: socket)
        #expect(outcome.status == (isSo ? 0 : 9), "\(outcome.complaint)")
        #expect(Tool.run(["wait", word, "--next", "--timeout", "0.05"], socket: socket).status == 9)
        #expect(daemon.requests.count == 2)
    }

    @Test(
        arguments: [
            ("play", Sample.state(cause: "play"), true), ("play", Sample.state(cause: "unstall"), true),
            ("play", Sample.state(cause: "volume", state: "paused"), false),
            ("pause", Sample.state(cause: "pause", state: "paused"), true),
            ("pause", Sample.state(cause: "seek", state: "paused"), false), ("stop", Sample.ended(), true),
            ("end", Sample.ended(), true), ("end", Sample.state(cause: "stop", state: "stopped"), false),
            ("track", Sample.state(cause: "track", item: 13), true),
            ("track", Sample.state(cause: "queue", item: 13), true),
            ("track", Sample.state(cause: "seek"), false), ("track", Sample.ended(), false),
            ("track", Sample.state(cause: "volume", changes: ["causes": ["track", "volume"]]), true),
        ] as [(String, JSONValue, Bool)])
    func waitForTheNextEvent(word: String, event: JSONValue, isIt: Bool) {
        let socket = folder.path("next.sock")
        let daemon = FakeDaemon(socket) { _, _ in .result(Sample.state(state: "paused", rate: 0)) }
        let tool = Tool(["wait", word, "--next", "--timeout", isIt ? "60" : "1", "-f", "{{cause}}"], socket: socket)
        daemon.publish(event)
        #expect(tool.outcome().status == (isIt ? 0 : 9))
    }
}

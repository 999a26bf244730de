import ControlProtocol
import Glibc
import TestSupport
import Testing

/// Findings of `doctor` about the bridges, each of which is broken in turn.
@Suite(.timeLimit(.minutes(8))) struct DoctorBridgeTests {
    private let folder = TemporaryFolder()

    /// The findings beside a daemon that plays nothing and a bridge that answers like this; nil: none is there.
    private func findings(_ bridge: String, _ answer: JSONValue?) throws -> [JSONValue] {
        let socket = folder.path("daemon.sock")
        let daemon = FakeDaemon(socket) { method, _ in
            switch method {
            case "hello": .result(["version": "1", "role": "admin"])
            case "nowPlaying.get": .result(Sample.state())
            case "commands.list": .result(["commands": []])
            default: .error(-32601, "there is no method", [:])
            }
        }
        defer { daemon.stop() }
        mkdir(folder.path("nowplaying-" + bridge), 0o700)
        let name = bridge == "web" ? "web.sock" : "control.sock"
        let other = answer.map { answer in
            FakeDaemon(folder.path("nowplaying-\(bridge)/\(name)")) { method, _ in
                method == (bridge == "hooks" ? "hooks.list" : "bridge.status")
                    ? .result(answer) : .error(-32601, "there is no method", [:])
            }
        }
        defer { other?.stop() }
        let outcome = Tool.run(
            ["doctor", "--json"], socket: socket, environment: ["XDG_RUNTIME_DIR": folder.path])
        let all = try JSONReader.read(outcome.output)["findings"]?.arrayValue ?? []
        return all.filter { ["bridges", bridge].contains($0["check"]?.stringValue) }
    }

    private func expect(_ bridge: String, _ answer: JSONValue?, _ level: String, _ words: String) throws {
        let found = try findings(bridge, answer)
        #expect(found.count == 1 && found[0]["level"]?.stringValue == level, "\(found)")
        #expect(found.contains { JSONWriter.text($0).contains(words) }, "\(found)")
    }

    @Test func none() throws { try expect("mqtt", nil, "ok", "this user runs no bridge") }

    @Test(arguments: ["mqtt", "mpris"]) func theOtherSide(bridge: String) throws {
        try expect(bridge, ["peer": "the other", "connected": true], "ok", "connected to the other")
        try expect(
            bridge, ["peer": "the other", "connected": false, "problem": "refused\u{1B}"], "warning",
            "no connection to the other: refused")
    }

    @Test func addressesOfTheBridgeForMPD() throws {
        try expect(
            "mpd", ["peer": "clients at /run/mpd/socket", "connected": true], "ok", "connected to clients at /run")
        try expect(
            "mpd", ["peer": "clients", "connected": false, "problem": "localhost:6600: in use\u{1B}"], "warning",
            "it does not listen at all of its addresses: localhost:6600: in use")
    }

    @Test func listenersOfThePage() throws {
        let local: JSONValue = [
            "listeners": ["127.0.0.1:8088"], "proxies": [], "isBeyondLoopback": false, "deviceCount": 0,
            "localAddress": "http://localhost:8088/",
        ]
        try expect("web", local, "ok", "a browser on this machine opens http://localhost:8088/")
        try expect("web", local, "ok", "bind = *:8088 in [web]")
        var open: JSONValue = [
            "listeners": ["0.0.0.0:8088"], "proxies": ["/run/p.sock"], "isBeyondLoopback": true, "deviceCount": 2,
            "addresses": ["http://192.0.2.7:8088/"], "wrongGuesses": 9,
        ]
        try expect("web", open, "ok", "a phone types http://192.0.2.7:8088/; 2 devices are paired")
        try expect("web", open, "ok", "/run/p.sock (for proxies)")
        guard case .object(var members) = open else { return }
        members["wrongGuesses"] = 10
        members["problem"] = "box:8088: in use\u{1B}"
        members["page"] = false
        open = .object(members)
        let found = try findings("web", open)
        #expect(found.map { $0["level"]?.stringValue } == ["warning", "warning", "warning", "ok"])
        #expect(found[0]["found"]?.stringValue?.contains("\u{1B}") == false)
    }

    @Test func hooks() throws {
        let good: JSONValue = ["path": "/h/led", "last": ["success": true, "words": "ended with status 0"]]
        try expect("hooks", ["hooks": [good, ["path": "/h/new"]]], "ok", "2 in order")
        let failed: JSONValue = [
            "path": "/h/relay", "last": ["success": false, "event": "play", "words": "was killed by signal 11"],
        ]
        try expect("hooks", ["hooks": [good, failed]], "warning", "nowplayingctl hooks test /h/relay play")
        let refused: JSONValue = ["path": "/h/x", "problem": "the hook /h/x does not run: it is writable by others"]
        try expect("hooks", ["hooks": [good, refused]], "warning", "is writable by others")
    }

    @Test func oneThatHangs() throws {
        mkdir(folder.path("nowplaying-mqtt"), 0o700)
        let path = folder.path("nowplaying-mqtt/control.sock")
        let other = ChildProgram(
            ["/bin/nc", "-lkU", path], environment: ["PATH": "/usr/bin:/bin"], outputPath: "/dev/null")
        defer { other.end(by: SIGKILL) }
        #expect(becomes { access(path, F_OK) == 0 })
        try expect("mqtt", nil, "fault", "runs, but does not answer")
    }
}

import ControlProtocol
import ControlServer
import DaemonRuntime
import Glibc
import LinuxSystem
import NowPlaying
import Sessions
import TestSupport
import Testing

/// Peers of other users. The test process must be root to become them.
@Suite(.enabled(if: geteuid() == 0, "only root can become other users")) struct RoleTests {
    private static let control: UInt32 = 61_001
    private static let read: UInt32 = 61_002
    private static let remote: UInt32 = 61_004
    private static let nobody: UInt32 = 65_534

    /// Answers to another user for these lines.
    private static func ask(_ path: String, groups: [UInt32], gid: UInt32 = nobody, _ lines: [String]) async throws
        -> [JSONValue]
    {
        let list = groups.isEmpty ? ["--clear-groups"] : ["--groups", groups.map(String.init).joined(separator: ",")]
        let text = lines.joined(separator: "\n") + "\n"
        let words =
            ["setpriv", "--reuid", "\(nobody)", "--regid", "\(gid)"] + list
            + ["sh", "-c", "printf '%s' \"$1\" | nc -U -N -w 10 \"$2\"", "sh", text, path]
        let process = await LoopThread.run { TestProcess(words, output: true) }
        let output = process.readAll()
        process.wait()
        return try output.split(separator: "\n").map { try JSONReader.read(String($0)) }
    }

    private static func line(_ id: Int, _ method: String, _ parameters: String = "{}") -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(parameters)}"#
    }

    private static func harness(roots: [String] = [], outputRole: Role = .control) async throws -> ServerHarness {
        let roles = PeerRoles(ownUID: geteuid(), controlGroup: control, remoteGroup: remote, readGroup: read)
        let harness = try await ServerHarness(roles: roles, roots: roots, outputRole: outputRole)
        chmod(harness.path, 0o666)
        return harness
    }

    @Test func whoIsInNoGroupIsNotLetIn() async throws {
        let harness = try await Self.harness()
        let answers = try await Self.ask(harness.path, groups: [61_003], [Self.line(1, "nowPlaying.get")])
        try #require(answers.count == 1)
        #expect(answers[0].errorCode == 403)
        #expect(answers[0]["id"] == .null)
        #expect(answers[0].status == "denied")
        let server = harness.server
        #expect(await LoopThread.run { server.clientCount } == 0)
        await harness.end()
    }

    @Test(arguments: [Role.control, .admin]) func rolesOfOutputs(_ role: Role) async throws {
        let harness = try await Self.harness(outputRole: role)
        let lines = [
            Self.line(1, "output.select", #"{"name":"x"}"#),
            Self.line(2, "output.delay.set", #"{"name":"x","delay":0.25}"#),
        ]
        let answers = try await Self.ask(harness.path, groups: [Self.control], lines)
        #expect(answers.map(\.errorCode) == (role == .control ? [nil, nil] : [403, 403]))
        let denied = try await Self.ask(harness.path, groups: [Self.read], lines)
        #expect(denied.map(\.errorCode) == [403, 403])
        await harness.end()
    }

    @Test func rolesByGroup() async throws {
        let harness = try await Self.harness()
        let lines = [
            Self.line(1, "hello"), Self.line(2, "nowPlaying.get"), Self.line(3, "queue.list"), Self.line(4, "pause"),
            Self.line(5, "pause", #"{"x":1}"#), Self.line(6, "pauze"),
            Self.line(7, "commands.configure", #"{"command":"play","enabled":false,"whileConnected":true}"#),
            Self.line(8, "commands.configure", #"{"command":"play","enabled":false}"#),
            Self.line(9, "output.select", #"{"name":"x"}"#), Self.line(10, "daemon.quit"),
            Self.line(11, "commands.configure", #"{"command":"fly"}"#),
        ]
        func codes(_ groups: [UInt32], gid: UInt32 = Self.nobody) async throws -> [Int64?] {
            let answers = try await Self.ask(harness.path, groups: groups, gid: gid, lines)
            return answers.sorted { $0["id"]!.integerValue! < $1["id"]!.integerValue! }.map(\.errorCode)
        }
        let readOnly: [Int64?] = [nil, nil, nil, 403, 403, -32601, 403, 403, 403, 403, 403]
        let control: [Int64?] = [nil, nil, nil, nil, -32602, -32601, nil, 403, nil, 403, 403]
        #expect(try await codes([Self.read]) == readOnly)
        #expect(try await codes([], gid: Self.read) == readOnly)
        #expect(try await codes([5, Self.control]) == control)
        let remote: [Int64?] = [nil, nil, nil, nil, -32602, -32601, 403, 403, 403, 403, 403]
        #expect(try await codes([Self.remote]) == remote)
        #expect(try await codes([Self.read, Self.remote]) == remote)
        #expect(try await codes([Self.remote, Self.control]) == control)
        #expect(try await codes([Self.read, Self.control]) == control)
        let handler = harness.handler
        let clients = await LoopThread.run { handler.requests.map(\.client) }
        #expect(clients.allSatisfy { $0.uid == Self.nobody && $0.name == "nc" })
        let hello = try await Self.ask(harness.path, groups: [Self.read], [Self.line(1, "hello")])
        #expect(hello[0]["result"]?["role"] == "read")
        await harness.end()
    }

    @Test("a remote plays, pauses and sets the volume, but names no media and leaves the queue as it is")
    func remotes() async throws {
        let harness = try await Self.harness()
        let allowed = [
            ("play", #"{"position":3}"#), ("nextTrack", "{}"), ("pause", "{}"), ("volume.set", #"{"volume":0.5}"#),
            ("changePlaybackPosition", #"{"position":3}"#), ("changeRepeatMode", #"{"mode":"all"}"#),
            ("pause", #"{"itemId":3}"#),
        ]
        let refused = [
            ("play", #"{"uri":"/a"}"#), ("play", #"{"itemId":3}"#), ("play", #"{"index":0}"#),
            ("play", #"{"descriptor":0}"#), ("queue.add", #"{"items":["/a"]}"#), ("queue.clear", "{}"),
            ("changeConsumeMode", #"{"mode":"on"}"#), ("announce", #"{"uri":"/a"}"#), ("sleep.set", #"{"seconds":5}"#),
            ("diagnostics.get", #"{"uri":"/a"}"#),
        ]
        let lines = (allowed + refused).enumerated().map { Self.line($0.offset, $0.element.0, $0.element.1) }
        let answers = try await Self.ask(harness.path, groups: [Self.remote], lines)
        let codes = answers.sorted { $0["id"]!.integerValue! < $1["id"]!.integerValue! }.map(\.errorCode)
        #expect(codes == allowed.map { _ in nil } + refused.map { _ in 403 })
        // The daemon's own user takes this role by itself.
        let client = try RawClient(harness.path)
        #expect(try client.call("hello", ["role": "remote"])["result"]?["role"] == "remote")
        #expect(try client.call("play", ["uri": "/a"]).errorCode == 403)
        #expect(try client.call("pause")["result"] != nil)
        #expect(try client.call("hello", ["role": "control"])["result"]?["role"] == "remote")
        await harness.end()
    }

    @Test func foreignersNameMediaBelowTheRoots() async throws {
        let folder = TemporaryFolder()
        chmod(folder.path, 0o755)
        let inside = folder.file("music/a.flac")
        let outside = folder.file("private.flac")
        let harness = try await Self.harness(roots: [folder.path + "/music"])
        func add(_ path: String) -> String { #"{"items":["\#(path)"]}"# }
        let answers = try await Self.ask(
            harness.path, groups: [Self.control],
            [
                Self.line(1, "queue.add", add(inside)), Self.line(2, "queue.add", add(outside)),
                Self.line(3, "queue.add", add(folder.path + "/missing")),
                Self.line(4, "queue.add", add(folder.path + "/music/missing")),
                Self.line(5, "play", #"{"uri":"file:///etc/passwd"}"#),
                "[" + Self.line(6, "queue.add", add(outside)) + "," + Self.line(7, "queue.add", add(inside)) + "]",
            ])
        try #require(answers.count == 6)
        #expect(answers.prefix(5).map(\.errorCode) == [nil, 403, 403, 100, 403])
        #expect(answers[5].arrayValue?.map(\.errorCode) == [403, nil])
        // Root may name anything.
        let own = try RawClient(harness.path)
        #expect(try own.call("queue.add", ["items": [.string(outside)]])["result"] != nil)
        await harness.end()
    }

    @Test func rightsThatAreGivenUpDoNotComeBack() async throws {
        let folder = TemporaryFolder()
        let outside = folder.file("private.flac")
        let harness = try await Self.harness(roots: [folder.path + "/music"])
        let client = try RawClient(harness.path)
        #expect(try client.call("hello", ["role": "control"])["result"]?["role"] == "control")
        #expect(try client.call("daemon.quit").errorCode == 403)
        #expect(try client.call("queue.add", ["items": [.string(outside)]]).errorCode == 403)
        #expect(try client.call("pause")["result"] != nil)
        #expect(try client.call("hello", ["role": "read"])["result"]?["role"] == "read")
        #expect(try client.call("hello", ["role": "control"])["result"]?["role"] == "read")
        #expect(try client.call("hello", ["role": "admin"]).errorCode == -32602)
        #expect(try client.call("pause").errorCode == 403)
        await harness.end()
    }

    @Test("a server that acts for a client has that client's name and a foreign user's media, for good")
    func actsForAClient() async throws {
        let folder = TemporaryFolder()
        let outside = folder.file("private.flac")
        let harness = try await Self.harness(roots: [folder.path + "/music"])
        let client = try RawClient(harness.path)
        let principal: JSONValue = ["uid": 1234, "pid": 77, "client": "remote\u{1B}[2J"]
        #expect(try client.call("hello", ["actsFor": ["uid": 1234, "pid": 77]]).errorCode == -32602)
        #expect(try client.call("hello", ["actsFor": ["uid": -1, "pid": 1, "client": "x"]]).errorCode == -32602)
        let hello = try client.call("hello", ["client": "library", "actsFor": principal])
        #expect(hello["result"]?["role"] == "control")
        #expect(try client.call("queue.add", ["items": [.string(outside)]]).errorCode == 403)
        #expect(try client.call("daemon.quit").errorCode == 403)
        #expect(try client.call("pause")["result"] != nil)
        // The client can regain neither its own rights nor those of another user.
        #expect(try client.call("hello", ["actsFor": ["uid": 0, "pid": 1, "client": "root"]]).errorCode == 403)
        #expect(try client.call("hello", ["client": "library"])["result"]?["role"] == "control")
        #expect(try client.call("pause")["result"] != nil)
        let handler = harness.handler
        let clients = await LoopThread.run { handler.requests.map(\.client) }
        #expect(clients.allSatisfy { $0.uid == 1234 && $0.pid == 77 && $0.name == "remote[2J" && $0.isForeign })
        #expect(clients.count == 2)
        // Nobody but the daemon's own user acts for others.
        let foreign = try await Self.ask(
            harness.path, groups: [Self.control],
            [Self.line(1, "hello", #"{"role":"control","actsFor":{"uid":0,"pid":1,"client":"root"}}"#)])
        #expect(foreign.map(\.errorCode) == [403])
        let reader = try RawClient(harness.path)
        let limited = try reader.call("hello", ["role": "read", "actsFor": principal])
        #expect(limited["result"]?["role"] == "read")
        await harness.end()
    }

    @Test("a step of a batch that gives up rights binds the steps after it, and their media")
    func rightsGivenUpInABatch() async throws {
        let folder = TemporaryFolder()
        let outside = folder.file("private.flac")
        let harness = try await Self.harness(roots: [folder.path + "/music"])
        let add = #"{"items":["\#(outside)"]}"#
        let steps = [
            Self.line(1, "queue.add", add), Self.line(2, "daemon.reload"),
            Self.line(3, "hello", #"{"role":"control"}"#), Self.line(4, "queue.add", add),
            Self.line(5, "daemon.reload"), Self.line(6, "pause"),
            Self.line(7, "hello", #"{"role":"read"}"#), Self.line(8, "pause"),
            Self.line(9, "hello", #"{"role":"control"}"#), Self.line(10, "pause"), Self.line(11, "queue.list"),
        ]
        let client = try RawClient(harness.path)
        try client.send("[" + steps.joined(separator: ",") + "]\n")
        let answers = try client.read().arrayValue ?? []
        #expect(answers.map(\.errorCode) == [nil, 200, nil, 403, 403, nil, nil, 403, nil, 403, nil])
        let handler = harness.handler
        let roles = await LoopThread.run { handler.requests.map(\.client.role) }
        #expect(roles == [.admin, .control, .read])
        await harness.end()
    }

    @Test func oneForeignerGetsHalfOfTheConnections() async throws {
        let harness = try await Self.harness()
        let server = harness.server
        await LoopThread.run { server.limitForeigner(to: 3) }
        let words = [
            "setpriv", "--reuid", "\(Self.nobody)", "--regid", "\(Self.read)", "--clear-groups", "sh", "-c",
            "for i in 1 2 3 4 5; do sleep 60 | nc -U \"$1\" & done; wait", "sh", harness.path,
        ]
        let process = await LoopThread.run { TestProcess(["setsid"] + words, output: true) }
        #expect(await harness.until { server.clientCount == 3 })
        // The others get the reason.
        var bytes = [UInt8](repeating: 0, count: 4096)
        var text = ""
        while text.split(separator: "\n").count < 2 {
            let got = Glibc.read(process.output, &bytes, bytes.count)
            guard got > 0 else { break }
            text += String(decoding: bytes.prefix(got), as: UTF8.self)
        }
        #expect(text.contains("tooManyClients"))
        #expect(try RawClient(harness.path).call("hello")["result"] != nil)
        kill(-process.pid, SIGKILL)
        process.end()
        #expect(await harness.until { server.clientCount == 0 })
        await harness.end()
    }
}

import ControlProtocol
import ControlServer
import DaemonRuntime
import Glibc
import LinuxSystem
import NowPlaying
import Sessions
import TestSupport
import Testing

@Suite struct ControlServerLineTests {
    /// Lines as a client may send them, and the code of the error in the answer (nil: a result).
    private static let lines: [(String, Int64?)] = [
        (#"{"jsonrpc":"2.0","id":1,"method":"nowPlaying.get"}"#, nil),
        (#"  {"jsonrpc":"2.0","id":1,"method":"nowPlaying.get","params":{"session":"main"}}  "#, nil),
        (#"{"jsonrpc":"2.0","id":null,"method":"hello","params":{}}"#, nil),
        (#"{"jsonrpc":"2.0","id":"x","method":"pause"}"# + "\r", nil),
        (#"{"jsonrpc":"2.0","id":1,"method":"skipForward","params":{"interval":0.5}}"#, nil),
        ("{", -32700), ("garbage", -32700), ("\u{7f}\u{0}", -32700), ("{}", -32600), ("[]", -32600), ("[1]", nil),
        ("\"play\"", -32600), (String(repeating: "[", count: 33) + String(repeating: "]", count: 33), -32700),
        (#"{"jsonrpc":"2.0","id":1,"method":"plya"}"#, -32601), (#"{"jsonrpc":"2.0","id":1,"method":""}"#, -32601),
        (#"{"jsonrpc":"2.0","id":1,"method":"queue.sort","params":{"by":"title"}}"#, -32601),
        (#"{"jsonrpc":"2.0","id":[],"method":"play"}"#, -32600), (#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
        (#"{"jsonrpc":"2.0","id":1,"method":"play","params":[1]}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"skipForward","params":{"intervall":5}}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"skipForward","params":{"interval":1e999}}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"skipForward","params":{"interval":0}}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"skipForward","params":{"interval":0,"session":"kitchen"}}"#, -32602),
        (#"{"jsonrpc":"2.0","id":1,"method":"pause","params":{"session":"kitchen"}}"#, 100),
        (#"{"jsonrpc":"2.0","id":1,"method":"pause","params":{"session":"*"}}"#, 100),
        (#"{"jsonrpc":"2.0","id":1,"method":"play","params":{"uri":"/nonexistent/file"}}"#, 100),
        (#"{"jsonrpc":"2.0","id":1,"method":"play","params":{"uri":"relative.flac"}}"#, 100),
        (#"{"jsonrpc":"2.0","id":1,"method":"play","params":{"uri":"ftp://example.org/stream"}}"#, 100),
        (#"{"jsonrpc":"2.0","id":1,"method":"play","params":{"uri":"/dev/null"}}"#, 100),
        (#"{"jsonrpc":"2.0","id":1,"method":"play","params":{"descriptor":0}}"#, -32602),
    ]

    @Test func eachLineHasItsAnswer() async throws {
        let harness = try await ServerHarness()
        let client = try RawClient(harness.path)
        for (line, code) in Self.lines {
            try client.send("\n\r\n  \n" + line + "\n")
            let answer = try client.read()
            let first = answer.arrayValue?.first ?? answer
            if line == "[1]" {
                #expect(first.errorCode == -32600)
            } else {
                #expect(first.errorCode == code, "\(line)")
                #expect((first["result"] == nil) == (code != nil), "\(line)")
            }
        }
        await harness.end()
    }

    @Test func halfLinesAndManyAtOnce() async throws {
        let harness = try await ServerHarness()
        let client = try RawClient(harness.path)
        let line = #"{"jsonrpc":"2.0","id":"é","method":"nowPlaying.get"}"# + "\n"
        for byte in Array(line.utf8) { try client.send([byte]) }
        #expect(try client.read()["id"] == "é")
        try client.send(String(repeating: line, count: 500))
        for _ in 0..<500 { #expect(try client.read()["result"]?["seq"] == 1) }
        await harness.end()
    }

    @Test func aHalfClosedClientGetsItsAnswers() async throws {
        let harness = try await ServerHarness()
        let handler = harness.handler
        await LoopThread.run { handler.result = { _ in nil } }
        let client = try RawClient(harness.path)
        try client.request(1, "pause")
        try client.send(#"{"jsonrpc":"2.0","id":2,"method":"hello"}"#)
        client.endSending()
        // The last line had no end, and is answered while the first one waits for the player.
        #expect(try client.read()["id"] == 2)
        #expect(await harness.until { handler.held.count == 1 })
        await LoopThread.run { handler.held[0](.success(["status": "success"])) }
        #expect(try client.read()["id"] == 1)
        #expect(try client.isClosedByServer())
        let server = harness.server
        #expect(await harness.until { server.clientCount == 0 && handler.gone.count == 1 })
        await harness.end()
    }

    @Test func whatAClientSentBeforeItWentIsCarriedOut() async throws {
        let harness = try await ServerHarness()
        let handler = harness.handler
        let file = harness.folder.file("a.flac")
        do {
            let client = try RawClient(harness.path)
            try client.send(#"{"jsonrpc":"2.0","method":"play","params":{"uri":"\#(file)"}}"# + "\n")
            try client.send(#"{"jsonrpc":"2.0","method":"pause"}"# + "\n")
        }
        #expect(await harness.until { handler.requests.map(\.method) == [.command(.play), .command(.pause)] })
        #expect(await harness.until { handler.gone.count == 1 })
        await harness.end()
    }

    @Test func notificationsAreNotAnswered() async throws {
        let harness = try await ServerHarness()
        let client = try RawClient(harness.path)
        try client.send(#"{"jsonrpc":"2.0","method":"pause"}"# + "\n")
        try client.send(#"{"jsonrpc":"2.0","method":"nonsense"}"# + "\n")
        try client.send(
            #"[{"jsonrpc":"2.0","method":"stop"},{"jsonrpc":"2.0","method":"skipForward","params":{"x":1}}]"# + "\n")
        #expect(try client.call("hello")["id"] == 1)
        let handler = harness.handler
        #expect(await LoopThread.run { handler.requests.map(\.method) } == [.command(.pause), .command(.stop)])
        await harness.end()
    }

    @Test func aLineThatIsTooLongEndsTheConnection() async throws {
        let harness = try await ServerHarness()
        let longest = try RawClient(harness.path)
        let frame = #"{"jsonrpc":"2.0","id":1,"method":"hello"}"#
        try longest.send(frame + String(repeating: " ", count: (256 << 10) - frame.utf8.count) + "\n")
        #expect(try longest.read()["result"] != nil)
        for ending in ["\n", ""] {
            let client = try RawClient(harness.path)
            // The server may close while the rest is on its way.
            try? client.send(frame + String(repeating: " ", count: (256 << 10) - frame.utf8.count + 1) + ending)
            let answer = try client.read()
            #expect(answer.errorCode == -32600)
            #expect(answer["id"] == .null)
            #expect(try client.isClosedByServer())
        }
        #expect(try longest.call("hello")["result"] != nil)
        await harness.end()
    }

    @Test func unfinishedLinesAreBounded() async throws {
        let harness = try await ServerHarness()
        let victim = try RawClient(harness.path)
        try victim.send(#"{"jsonrpc":"2.0","id":1,"#)
        let half = [UInt8](repeating: UInt8(ascii: "x"), count: 250 << 10)
        var others: [RawClient] = []
        for _ in 0..<80 {
            let client = try RawClient(harness.path)
            try? client.send(half)
            others.append(client)
        }
        let server = harness.server
        #expect(await harness.until { server.clientCount < 81 && server.clientCount > 40 })
        #expect(await LoopThread.run { server.unfinishedBytes } <= ControlServer.maximumUnfinishedBytes)
        try victim.send(#""method":"hello"}"# + "\n")
        #expect(try victim.read()["result"] != nil)
        await harness.end()
    }

    @Test func greetingAndDiscovery() async throws {
        let harness = try await ServerHarness()
        let client = try RawClient(harness.path)
        let hello = try client.call("hello", ["client": "re\u{1b}[31mmote"])
        #expect(hello["result"]?["server"] == "nowplayingd")
        #expect(hello["result"]?["version"] == "1.2.3")
        #expect(hello["result"]?["protocol"] == 1)
        #expect(hello["result"]?["instance"] == "0123456789abcdef")
        #expect(hello["result"]?["role"] == "admin")
        let methods = try client.call("rpc.discover")["result"]?["methods"]?.arrayValue
        #expect(methods?.count == MethodName.allCases.count)
        _ = try client.call("pause")
        let handler = harness.handler
        let identity = try #require(await LoopThread.run { handler.requests.last?.client })
        #expect(identity.name == "re[31mmote")
        #expect(identity.pid == getpid())
        #expect(identity.uid == geteuid())
        await harness.end()
    }
}

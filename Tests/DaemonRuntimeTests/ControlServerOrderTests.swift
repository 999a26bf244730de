import ControlProtocol
import ControlServer
import DaemonRuntime
import Glibc
import LinuxSystem
import NowPlaying
import Sessions
import TestSupport
import Testing

/// Order of starts and answers.
@Suite struct ControlServerOrderTests {
    @Test func answersMayOvertakeEachOther() async throws {
        let harness = try await ServerHarness()
        let handler = harness.handler
        await LoopThread.run { handler.result = { $0.method == .command(.play) ? nil : .success([:]) } }
        let client = try RawClient(harness.path)
        try client.request(1, "play")
        try client.request(2, "pause")
        #expect(try client.read()["id"] == 2)
        await LoopThread.run { handler.held[0](.success(["status": "success"])) }
        #expect(try client.read()["id"] == 1)
        await harness.end()
    }

    @Test func requestsAreStartedInOrderThoughMediaAreLookedForMeanwhile() async throws {
        let harness = try await ServerHarness()
        let handler = harness.handler
        let file = harness.folder.file("a.flac")
        let client = try RawClient(harness.path)
        for id in 0..<50 {
            try client.request(id, "queue.add", ["items": [.string(file)]])
            try client.request(id, "queue.list")
        }
        for _ in 0..<100 { #expect(try client.read()["result"] != nil) }
        let methods = await LoopThread.run { handler.requests.map(\.method) }
        #expect(methods == (0..<50).flatMap { _ in [MethodName.other(.queueAdd), .other(.queueList)] })
        await harness.end()
    }

    @Test("a request whose media are looked for goes to the session that was active when its line was read")
    func activeSession() async throws {
        let harness = try await ServerHarness()
        let handler = harness.handler
        await LoopThread.run { handler.active = ["night", "main"] }
        let file = harness.folder.file("a.flac")
        let client = try RawClient(harness.path)
        try client.request(1, "play", ["uri": .string(file)])
        try client.request(2, "queue.add", ["items": [.string(file)]])
        try client.request(3, "pause")
        // The steps of a batch follow each other.
        try client.send(#"[{"jsonrpc":"2.0","id":4,"method":"play","params":{"uri":"\#(file)"}}]"# + "\n")
        for _ in 0..<4 { _ = try client.read() }
        #expect(
            await LoopThread.run { handler.requests.map { $0.string("session") } } == ["night", "main", nil, nil])
        await harness.end()
    }

    @Test func whatCannotBePlayedChangesNothing() async throws {
        let harness = try await ServerHarness()
        let handler = harness.handler
        let good = harness.folder.file("a.flac")
        let bad = harness.folder.file("a.broken")
        let client = try RawClient(harness.path)
        try client.request(1, "play", ["uri": .string(bad)])
        try client.request(2, "play", ["uri": .string(good)])
        try client.request(3, "changePlaybackPosition", ["position": 2.5])
        // Entries of the queue are not opened.
        try client.request(4, "queue.add", ["items": [.string(bad)]])
        let answers = try (0..<4).map { _ in try client.read() }
        #expect(answers.map { $0["id"]?.integerValue } == [1, 2, 3, 4])
        #expect(answers.map(\.errorCode) == [100, nil, nil, nil])
        #expect(
            await LoopThread.run { handler.requests.map(\.method) } == [
                .command(.play), .command(.changePlaybackPosition), .other(.queueAdd),
            ])
        await harness.end()
    }

    @Test func aBatchIsAnsweredInOneLine() async throws {
        let harness = try await ServerHarness()
        let handler = harness.handler
        let file = harness.folder.file("a.flac")
        await LoopThread.run { handler.result = { $0.method == .command(.pause) ? nil : .success([:]) } }
        let client = try RawClient(harness.path)
        try client.send(
            """
            [{"jsonrpc":"2.0","id":1,"method":"pause"},{"jsonrpc":"2.0","method":"stop"},\
            {"jsonrpc":"2.0","id":2,"method":"queue.add","params":{"items":["\(file)"]}},\
            {"jsonrpc":"2.0","id":3,"method":"queue.add","params":{"items":["/nonexistent"]}},\
            {"jsonrpc":"2.0","id":4,"method":"nowPlaying.subscribe"},7,\
            {"jsonrpc":"2.0","id":5,"method":"nowPlaying.get"}]

            """)
        #expect(await harness.until { handler.requests.count == 3 })
        // Others are served while the batch waits for its last step.
        #expect(try RawClient(harness.path).call("nowPlaying.get")["result"] != nil)
        await LoopThread.run { handler.held[0](.success(["status": "success"])) }
        let answers = try #require(try client.read().arrayValue)
        #expect(answers.map { $0["id"] } == ([1, 2, 3, 4, nil, 5] as [JSONValue]))
        #expect(answers.map(\.errorCode) == [nil, nil, 100, -32600, -32600, nil])
        #expect(
            await LoopThread.run { handler.requests.map(\.method) } == [
                .command(.pause), .command(.stop), .other(.queueAdd),
            ])
        await harness.end()
    }

    @Test func aBatchOfThousandsIsRefusedWhole() async throws {
        let harness = try await ServerHarness()
        let client = try RawClient(harness.path)
        let step = #"{"jsonrpc":"2.0","id":1,"method":"stop"}"#
        func batch(_ count: Int) -> String { "[" + Array(repeating: step, count: count).joined(separator: ",") + "]\n" }
        try client.send(batch(1000))
        #expect(try client.read().arrayValue?.count == 1000)
        try client.send(batch(1001))
        #expect(try client.read().errorCode == -32600)
        let handler = harness.handler
        #expect(await LoopThread.run { handler.requests.count } == 1000)
        await harness.end()
    }

    @Test func aClientThatDoesNotReadIsNotReadFrom() async throws {
        let harness = try await ServerHarness()
        let handler = harness.handler
        let long = [UInt8](repeating: UInt8(ascii: "1"), count: 200_000)
        await LoopThread.run { handler.result = { _ in .encoded(long) } }
        let client = try RawClient(harness.path)
        let line = #"{"jsonrpc":"2.0","id":1,"method":"queue.list"}"# + "\n"
        try client.send(String(repeating: line, count: 500))
        #expect(await harness.until { handler.requests.count >= 6 })
        // Another client's answer comes after the server had every chance to go on with the first.
        let other = try RawClient(harness.path)
        for _ in 0..<100 { _ = try other.call("hello") }
        let started = await LoopThread.run { handler.requests.count }
        #expect(started < 100)
        for _ in 0..<500 { #expect(try client.readLine().utf8.count > 200_000) }
        #expect(await LoopThread.run { handler.requests.count } == 500)
        await harness.end()
    }

    @Test func aThousandRequestsMayBeUnanswered() async throws {
        let harness = try await ServerHarness()
        let handler = harness.handler
        await LoopThread.run { handler.result = { _ in nil } }
        let client = try RawClient(harness.path)
        try client.send((0..<1500).map { "{\"jsonrpc\":\"2.0\",\"id\":\($0),\"method\":\"pause\"}\n" }.joined())
        #expect(await harness.until { handler.requests.count == 1000 })
        let other = try RawClient(harness.path)
        for _ in 0..<50 { _ = try other.call("hello") }
        #expect(await LoopThread.run { handler.requests.count } == 1000)
        await LoopThread.run {
            for answer in handler.held.prefix(600) { answer(.success([:])) }
        }
        #expect(await harness.until { handler.requests.count == 1500 })
        await LoopThread.run {
            for answer in handler.held.dropFirst(600) { answer(.success([:])) }
        }
        for _ in 0..<1500 { _ = try client.read() }
        await harness.end()
    }
}

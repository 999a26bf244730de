import ControlProtocol
import ControlServer
import DaemonRuntime
import LinuxSystem
import NowPlaying
import Sessions
import TestSupport
import Testing

/// The server's own part of `diagnostics.get`.
@Suite(.timeLimit(.minutes(8))) struct DiagnosisTests {
    /// A request without an answer is reported after a second with its client; an answered one is not.
    @Test func whoWaits() async throws {
        let harness = try await ServerHarness()
        let handler = harness.handler
        await LoopThread.run { handler.result = { $0.method == .command(.pause) ? nil : .success([:]) } }
        let waiting = try RawClient(harness.path)
        _ = try waiting.call("hello", ["client": "a remote"])
        #expect(try waiting.call("queue.clear")["result"] != nil)
        try waiting.request(2, "pause")
        let asking = try RawClient(harness.path)
        func waitingRequests() throws -> [JSONValue] {
            try asking.call("diagnostics.get")["result"]?["waiting"]?.arrayValue ?? []
        }
        #expect(try becomes { try waitingRequests().count == 1 })
        let request = try #require(try waitingRequests().first)
        #expect(request["method"] == "pause" && request["client"] == "a remote", "\(request)")
        #expect((request["seconds"]?.doubleValue ?? 0) >= 1)
        await LoopThread.run { handler.held.removeFirst()(.success([:])) }
        _ = try waiting.read()
        #expect(try waitingRequests().isEmpty)
        await harness.end()
    }

    /// The last pause is reported even after later events.
    @Test func whoPaused() async throws {
        let harness = try await ServerHarness()
        let client = try RawClient(harness.path)
        #expect(try client.call("diagnostics.get")["result"]?["lastPause"] == .null)
        let board = harness.board
        await LoopThread.run {
            var state = board.state
            state.cause = .pause
            state.by = Originator(client: "a button", pid: 7, uid: 1000)
            board.publish(state)
        }
        await harness.publish(.volume)
        let pause = try client.call("diagnostics.get")["result"]?["lastPause"]
        #expect(
            pause?["client"] == "a button" && pause?["pid"] == 7 && pause?["uid"] == 1000,
            "\(String(describing: pause))")
        #expect((pause?["seconds"]?.doubleValue ?? -1) >= 0)
        await harness.end()
    }
}

/// Waits until a condition that may throw holds, at most 20 s.
private func becomes(_ condition: () throws -> Bool) throws -> Bool {
    let end = EventLoop.now.advanced(bySeconds: 20)
    while EventLoop.now < end { if try condition() { return true } }
    return false
}

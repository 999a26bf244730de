import ControlProtocol
import ControlServer
import DaemonRuntime
import Glibc
import LinuxSystem
import NowPlaying
import Sessions
import TestSupport
import Testing

@Suite struct SubscriptionTests {
    @Test func eventsGoToThoseWhoAsked() async throws {
        let harness = try await ServerHarness()
        let all = try RawClient(harness.path)
        let some = try RawClient(harness.path)
        let none = try RawClient(harness.path)
        let snapshot = try all.call("nowPlaying.subscribe")
        #expect(snapshot["result"]?["cause"] == "snapshot")
        #expect(snapshot["result"]?["seq"] == 1)
        _ = try some.call("nowPlaying.subscribe", ["causes": ["pause", "track"], "session": "*"])
        _ = try none.call("hello")
        for cause in [Cause.play, .pause, .queue, .track] { await harness.publish(cause) }
        for (seq, cause) in [(2, "play"), (3, "pause"), (4, "queue"), (5, "track")] {
            let event = try all.read()
            #expect(event["method"] == "nowPlaying.changed")
            #expect(event["id"] == nil)
            #expect(event["params"]?["seq"]?.integerValue == Int64(seq))
            #expect(event["params"]?["cause"] == .string(cause))
            #expect(event["params"]?["causes"] == nil)
        }
        #expect(try some.read()["params"]?["cause"] == "pause")
        #expect(try some.read()["params"]?["cause"] == "track")
        // A second subscription replaces the first; the answer of the next call is the next line for each.
        _ = try some.call("nowPlaying.subscribe", ["causes": ["stop"]])
        _ = try all.call("nowPlaying.unsubscribe")
        await harness.publish(.pause)
        #expect(try some.call("hello")["id"] == 1)
        #expect(try all.call("hello")["id"] == 1)
        #expect(try none.call("nowPlaying.get")["result"]?["cause"] == "pause")
        await harness.end()
    }

    @Test func anEventIsWrittenBeforeTheAnswerThatNamesIt() async throws {
        let harness = try await ServerHarness()
        let handler = harness.handler
        let board = harness.board
        await LoopThread.run {
            handler.result = { _ in
                var state = board.state
                state.sequence += 1
                state.cause = .pause
                board.publish(state)
                return .success(["seq": .integer(Int64(state.sequence))])
            }
        }
        let client = try RawClient(harness.path)
        _ = try client.call("nowPlaying.subscribe")
        for id in 0..<300 { try client.request(id, "pause") }
        for id in 0..<300 {
            #expect(try client.read()["params"]?["seq"]?.integerValue == Int64(id + 2))
            #expect(try client.read()["result"]?["seq"]?.integerValue == Int64(id + 2))
        }
        await harness.end()
    }

    @Test func whoDoesNotReadGetsTheNewestWithAllCauses() async throws {
        let harness = try await ServerHarness()
        let sleeper = try RawClient(harness.path)
        let reader = try RawClient(harness.path)
        _ = try sleeper.call("nowPlaying.subscribe", ["causes": ["play", "pause", "stop", "seek"]])
        _ = try reader.call("nowPlaying.subscribe")
        let causes = [Cause.play, .pause, .volume]
        // More than any socket buffer holds.
        for turn in 0..<3000 {
            await harness.publish(causes[turn % 3])
            #expect(try reader.read()["params"]?["seq"]?.integerValue == Int64(turn + 2))
        }
        await harness.publish(.seek)
        let server = harness.server
        #expect(await LoopThread.run { server.subscriberCount } == 2)
        var last: Int64 = 1
        var merged = 0
        while last < 3002 {
            let event = try sleeper.read()
            let seq = try #require(event["params"]?["seq"]?.integerValue)
            #expect(seq > last)
            last = seq
            if let causes = event["params"]?["causes"] {
                merged += 1
                #expect(causes == ["play", "pause", "seek"] || causes == ["pause", "play", "seek"])
                #expect(event["params"]?["cause"] == "seek")
            }
        }
        #expect(last == 3002)
        #expect(merged == 1)
        await harness.end()
    }

    @Test("a client that does not read keeps the newest state of a session that lasts, however many others come and go")
    func sessionsThatComeAndGo() async throws {
        let harness = try await ServerHarness()
        let board = harness.board
        let sleeper = try RawClient(harness.path)
        _ = try sleeper.call("nowPlaying.subscribe", ["session": "*"])
        func publish(_ session: String, _ sequence: Int) async {
            await LoopThread.run {
                var state = board.state
                state.session = session
                state.sequence = sequence
                state.cause = .pause
                board.publish(state)
            }
        }
        let main = await LoopThread.run { board.state.session }
        // More than any socket buffer holds.
        for turn in 2..<3000 { await publish(main, turn) }
        await publish("night", 3000)
        for turn in 3001..<3200 {
            await publish("guest\(turn)", turn)
            // It is written down before the next turn of the loop.
            await LoopThread.run { board.forget("guest\(turn)") }
        }
        await publish(main, 3200)
        var newest: [String: Int64] = [:]
        while newest[main] != 3200 {
            let event = try sleeper.read()["params"]
            newest[try #require(event?["session"]?.stringValue)] = event?["seq"]?.integerValue
        }
        #expect(newest["night"] == 3000)
        #expect(newest["guest3199"] == 3199 && newest.count <= 64)
        await harness.end()
    }

    @Test("a client that does not read and follows all sessions gets the newest state of each")
    func newestOfEachSession() async throws {
        let harness = try await ServerHarness()
        let board = harness.board
        let sleeper = try RawClient(harness.path)
        _ = try sleeper.call("nowPlaying.subscribe", ["session": "*"])
        func publish(_ session: String, _ cause: Cause, _ sequence: Int) async {
            await LoopThread.run {
                var state = board.state
                state.session = session
                state.sequence = sequence
                state.cause = cause
                board.publish(state)
            }
        }
        let main = await LoopThread.run { board.state.session }
        // More than any socket buffer holds; then one event of each of the others, and more of the first.
        for turn in 2..<3000 { await publish(main, .play, turn) }
        await publish("night", .pause, 3000)
        await publish("cast", .stop, 3001)
        await publish("night", .volume, 3002)
        for turn in 3003..<4000 { await publish(main, .pause, turn) }
        var newest: [String: Int64] = [:]
        var causes: [String: JSONValue] = [:]
        while newest[main] != 3999 {
            let event = try sleeper.read()["params"]
            let session = try #require(event?["session"]?.stringValue)
            newest[session] = event?["seq"]?.integerValue
            causes[session] = event?["causes"]
        }
        #expect(newest == [main: 3999, "night": 3002, "cast": 3001])
        #expect(causes["night"] == ["pause", "volume"] && causes["cast"] == nil)
        #expect(causes[main] == ["play", "pause"])
        await harness.end()
    }

    @Test func anAnswerDoesNotOvertakeAnEventThatWaits() async throws {
        let harness = try await ServerHarness()
        let handler = harness.handler
        await LoopThread.run { handler.result = { _ in nil } }
        let client = try RawClient(harness.path)
        _ = try client.call("nowPlaying.subscribe")
        try client.request(7, "pause")
        #expect(await harness.until { handler.held.count == 1 })
        for _ in 0..<3000 { await harness.publish(.pause) }
        await LoopThread.run { handler.held[0](.success(["seq": 3001])) }
        var last: Int64 = 0
        while true {
            let line = try client.read()
            if line["id"] == 7 { break }
            last = try #require(line["params"]?["seq"]?.integerValue)
        }
        #expect(last == 3001)
        await harness.end()
    }

    @Test("a client gets the keys that it names, and session, seq and cause")
    func fields() async throws {
        let harness = try await ServerHarness()
        let board = harness.board
        let all = try RawClient(harness.path)
        let small = try RawClient(harness.path)
        let items = try RawClient(harness.path)
        _ = try all.call("nowPlaying.subscribe")
        let snapshot = try small.call("nowPlaying.subscribe", ["fields": ["state"]])["result"]
        #expect(snapshot == ["session": "main", "seq": 1, "cause": "snapshot", "state": "stopped"])
        _ = try items.call(
            "nowPlaying.subscribe",
            ["fields": ["item", "by"], "causes": ["track"], "languages": ["de"], "session": "*"])
        #expect(try small.call("nowPlaying.subscribe", ["fields": ["colour"]]).errorCode == -32602)
        // Texts with the marks of JSON in them.
        let title = #"}],"state":"\#u{1F3B5}[{,\"#
        for cause in [Cause.pause, .track] {
            await LoopThread.run {
                var state = board.state
                state.sequence += 1
                state.cause = cause
                state.state = .paused
                var metadata = MediaMetadata()
                metadata.title = title
                metadata.artists = ["a", title]
                metadata.texts = [LocalizedText(key: .title, language: "de", value: title + " auf Deutsch")]
                state.item = NowPlayingItem(id: ItemID(7), play: 1, uri: "u", metadata: metadata, duration: nil)
                board.publish(state)
            }
        }
        for (seq, cause) in [(2, "pause"), (3, "track")] as [(JSONValue, JSONValue)] {
            let whole = try all.read()["params"]
            #expect(whole?.objectValue?.members.count == StateField.allCases.count)
            #expect(whole?["item"]?["title"] == .string(title))
            #expect(
                try small.read()["params"] == ["session": "main", "seq": seq, "cause": cause, "state": "paused"])
        }
        let item = try items.read()["params"]
        #expect(item?.objectValue?.members.map(\.name) == ["session", "seq", "cause", "by", "item"])
        #expect(item?["seq"] == 3 && item?["by"] == .null && item?["item"]?["artists"] == ["a", .string(title)])
        #expect(item?["item"]?["title"] == .string(title + " auf Deutsch"))
        // Another subscription takes the place of that form.
        _ = try small.call("nowPlaying.subscribe")
        await harness.publish(.volume)
        #expect(try small.read() == all.read())
        await harness.end()
    }

    @Test("a client with fields that does not read gets the newest with all causes")
    func fieldsOfTheNewest() async throws {
        let harness = try await ServerHarness()
        let sleeper = try RawClient(harness.path)
        let reader = try RawClient(harness.path)
        _ = try sleeper.call("nowPlaying.subscribe", ["fields": ["state"]])
        _ = try reader.call("nowPlaying.subscribe", ["fields": ["state"]])
        // More than any socket buffer holds.
        for turn in 0..<3000 {
            await harness.publish(.play)
            #expect(try reader.read()["params"]?["seq"]?.integerValue == Int64(turn + 2))
        }
        for cause in [Cause.pause, .seek] { await harness.publish(cause) }
        var last: JSONValue?
        while last?["seq"] != 3003 { last = try sleeper.read()["params"] }
        #expect(last?.objectValue?.members.map(\.name) == ["session", "seq", "cause", "state", "causes"])
        #expect(last?["causes"] == ["play", "pause", "seek"])
        await harness.end()
    }

    @Test func fiveHundredHearOfAnEvent() async throws {
        let harness = try await ServerHarness()
        var clients: [RawClient] = []
        for _ in 0..<500 {
            let client = try RawClient(harness.path)
            try client.request(1, "nowPlaying.subscribe")
            clients.append(client)
        }
        for client in clients { _ = try client.read() }
        await harness.publish(.pause)
        for client in clients { #expect(try client.read()["params"]?["cause"] == "pause") }
        await harness.end()
    }
}

import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Refusals: their codes, their order, and that they change nothing.
    @Suite(.timeLimit(.minutes(5))) struct RefusalTests {
        @Test("an empty queue")
        func emptyQueue() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            for command in ["play", "togglePlayPause", "nextTrack", "previousTrack", "skipForward", "skipBackward"] {
                #expect(client.refusal(command) == "110", "\(command)")
            }
            #expect(client.refusal("changePlaybackPosition", ["position": 0]) == "110")
            #expect(client.refusal("pause") == "")
            #expect(client.refusal("stop") == "")
            #expect(client.call("pause")?.playing == "stopped")
            #expect(client.events() == [])
            let list = try #require(client.call("commands.list"))
            for status in list["commands"]?.arrayValue ?? [] {
                // Modes hold for the queue that is to come.
                let isMode = status["command"]?.stringValue?.hasSuffix("Mode") == true
                #expect(status["enabled"] == .bool(isMode))
            }
            #expect(list["commands"]?.arrayValue?.first?["reason"] == "empty queue")
        }

        @Test("errors come in the order of the protocol, with status and reason")
        func order() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            // The order of refusals: parameters, content, a missing item, and then commands that are not possible now.
            let table: [(String, JSONValue, String)] = [
                ("skipForward", ["interval": 0, "itemId": 5], "-32602"),
                ("skipForward", ["intervall": 5], "-32602"),
                ("pause", ["itemId": 5, "notAfter": 1], "100 otherItem"),
                ("pause", ["session": "kitchen"], "100 noSession"),
                ("pause", ["session": "kitchen", "itemId": "x"], "-32602"),
                ("nextTrack", ["itemId": 5], "100 otherItem"),
                ("play", ["uri": "/nowhere/x.flac"], "100"),
                ("play", ["uri": 5], "-32602"),
                ("queue.add", ["items": ["/nowhere/x.flac"]], "100"),
                ("queue.add", ["items": []], "-32602"),
                ("queue.remove", ["ids": [7]], "100 noSuchItem"),
                ("queue.get", ["id": 7], "100 noSuchItem"),
                ("output.select", ["name": "nothing"], "120"),
                ("output.delay.set", ["name": "nothing", "delay": 0.3], "120"),
                ("output.delay.set", ["name": "nothing", "delay": -0.1], "-32602"),
                ("output.delay.set", ["name": "nothing", "delay": 10.1], "-32602"),
                ("output.delay.set", ["name": "nothing"], "-32602"),
                ("pley", [:], "-32601"),
            ]
            for (method, parameters, refusal) in table {
                #expect(client.refusal(method, parameters) == refusal, "\(method) \(parameters)")
            }
            let unknown = try #require(client.error("skipForward", ["intervall": 5]))
            #expect(unknown["data"]?["nearest"] == "interval")
            #expect(unknown["data"]?["status"] == "invalidParams")
            let missing = try #require(client.error("queue.add", ["items": ["/nowhere/x.flac"]]))
            #expect(missing["data"]?["status"] == "noSuchContent")
            #expect(missing["data"]?["uris"]?.arrayValue?.count == 1)
            #expect(client.error("play")?["data"]?["status"] == "noActionableNowPlayingItem")
            #expect(client.events() == [])
        }

        @Test("guards: another item plays by now, or it is too late")
        func guards() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("queue.add", ["items": daemon.silences(60, 60), "play": true])
            client.call("nowPlaying.subscribe")
            let now = Double(time(nil))
            #expect(client.refusal("pause", ["itemId": 2]) == "100 otherItem")
            // Only a wall clock that was set can show that it is late.
            let isSet = client.call("nowPlaying.get")?["anchor"]?["wallSynced"] == true
            if isSet {
                #expect(client.refusal("pause", ["notAfter": .number(now - 5)]) == "200 late")
                #expect(client.refusal("pause", ["itemId": 1, "notAfter": .number(now - 5)]) == "200 late")
            }
            #expect(client.events() == [])
            #expect(client.refusal("pause", ["itemId": 1, "notAfter": .number(now + 60)]) == "")
            #expect(client.events() == ["pause"])
        }

        @Test("play of what can't be opened changes nothing")
        func playOfNothing() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let folder = daemon.folder
            let client = daemon.connect()
            client.call("queue.add", ["items": daemon.silences(60, 60), "play": true])
            client.call("nowPlaying.subscribe")
            let before = try #require(client.call("nowPlaying.get"))
            _ = mkfifo(folder.path("pipe.wav"), 0o600)
            _ = symlink("loop.wav", folder.path("loop.wav"))
            _ = mkdir(folder.path("empty"), 0o700)
            let bad = [
                folder.write(Array("This is no FLAC file.\n".utf8), "text.flac"), folder.write([], "empty.wav"),
                folder.path("missing.wav"), folder.path("pipe.wav"), folder.path("loop.wav"), folder.path("empty"),
                "/dev/zero", "gopher://example.org/x",
            ]
            for path in bad {
                let error = try #require(client.error("play", ["uri": .string(path)]), "\(path)")
                #expect(error["code"] == 100, "\(path) \(error)")
                #expect(error["data"]?["uris"]?.arrayValue?.count == 1, "\(path) \(error)")
                #expect((error["message"]?.stringValue ?? "").count > 20, "\(path) \(error)")
            }
            #expect(client.events() == [])
            #expect(client.call("nowPlaying.get") == before)
        }

        @Test("a client may turn commands off and set intervals for as long as it is connected")
        func configure() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("queue.add", ["items": daemon.silences(60, 60), "play": true])
            client.call("nowPlaying.subscribe")
            var other: Client? = daemon.connect()
            other?.call(
                "commands.configure",
                ["command": "nextTrack", "enabled": false, "reason": "house rules", "whileConnected": true])
            other?.call(
                "commands.configure",
                ["command": "skipForward", "preferredIntervals": [7, 30], "whileConnected": true])
            #expect(client.events() == ["commands", "commands"])
            for peer in [client, other] {
                #expect(peer?.refusal("nextTrack") == "200 disabled")
                #expect(peer?.error("nextTrack")?["message"]?.stringValue?.contains("house rules") == true)
            }
            #expect(client.call("nowPlaying.get")?.itemID == 1)
            let list = try #require(client.call("commands.list"))
            let next = list["commands"]?.arrayValue?.first { $0["command"] == "nextTrack" }
            #expect(next?["enabled"] == false)
            #expect(next?["reason"] == "house rules")
            #expect(list["version"] == client.call("nowPlaying.get")?["commandsVersion"])
            client.call("pause")
            let before = try #require(client.call("nowPlaying.get")).elapsed
            #expect(abs((client.call("skipForward")?.elapsed ?? 0) - before - 7) < 0.001)
            #expect(client.events() == ["pause", "seek"])
            other = nil
            #expect(client.event("commands").words == "commands")
            #expect(client.refusal("nextTrack") == "")
            #expect(client.call("nowPlaying.get")?.itemID == 2)
        }
    }
}

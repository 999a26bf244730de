import ControlProtocol
import LinuxSystem
import TestSupport
import Testing

extension Acceptance {
    /// Many sources, one box.
    @Suite(.timeLimit(.minutes(5))) struct SessionTests {
        init() { LoopThread.start() }

        private func active(_ client: Client) -> String? {
            client.call("session.list")?["sessions"]?.arrayValue?.first { $0["active"] == true }?["name"]?.stringValue
        }

        @Test("who plays last is followed, the others are held meanwhile, and both are there again after a restart")
        func local() async throws {
            let folder = TemporaryFolder()
            let daemon = await RealDaemon.start(nil, output: "null", in: folder)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(folder.silence("music.wav", seconds: 60))])
            #expect(client.event().words == "play")
            #expect(client.call("session.create", ["name": "night"]) == ["name": "night"])
            #expect(client.refusal("session.create", ["name": "night"]) == "200 inUse")
            #expect(client.refusal("session.create", ["name": "../x"]) == "-32602")
            #expect(client.call("session.activate", ["name": "night"]) == ["active": false], "it has nothing to play")
            let rain = JSONValue.string(folder.silence("rain.wav", seconds: 60))
            #expect(client.call("queue.add", ["session": "night", "items": [rain]]) != nil)
            #expect(
                client.call("queue.list")?["items"]?.arrayValue?.first?["title"] != "rain",
                "bare ones are still for main")
            // Its play is published first, then the switch, with the whole state; main is held.
            let answer = client.call("play", ["session": "night"])
            #expect(answer?.playing == "playing")
            let all = daemon.connect()
            all.call("nowPlaying.subscribe", ["session": "*"])
            let (play, change) = (client.event(), client.event())
            #expect(play["session"] == "night" && play.words == "play")
            #expect(change["session"] == "night" && change.words == "session" && change.playing == "playing")
            #expect(change.sequence > play.sequence)
            let main = try #require(client.call("nowPlaying.get", ["session": "main"]))
            #expect(main.playing == "interrupted" && main["interruption"] == ["by": "night", "shouldResume": true])
            #expect(active(client) == "night")
            #expect(client.call("pause")?.playing == "paused")
            #expect(client.event()["session"] == "night")
            #expect(client.call("nowPlaying.get", ["session": "main"])?.playing == "interrupted")
            // It stops: main goes on, and is the active one again.
            #expect(client.call("stop")?.playing == "stopped")
            let back = all.event("interruption-ended")
            #expect(back["session"] == "main" && back.playing == "playing")
            let returned = client.event("session")
            #expect(returned["session"] == "main" && returned.playing == "playing")
            #expect(returned["activeChanged"] == ["from": "night", "to": "main", "why": "resumed"])
            #expect(client.call("nowPlaying.subscribe")?["activeChanged"] == .null, "it is no news any more")
            #expect(client.call("session.activate", ["name": "main"]) == ["active": true])
            #expect(client.refusal("session.close", ["name": "main"]) == "200 inUse")
            #expect(client.refusal("nowPlaying.get", ["session": "nowhere"]) == "100 noSession")
            client.call("session.create", ["name": "brief", "whileConnected": true])
            #expect(daemon.stop() == 0)
            let again = await RealDaemon.start(nil, output: "null", in: folder)
            let later = again.connect()
            let names = later.call("session.list")?["sessions"]?.arrayValue?.compactMap { $0["name"]?.stringValue }
            #expect(names == ["main", "night"])
            #expect(
                later.call("queue.list", ["session": "night"])?["items"]?.arrayValue?.first?["uri"]?.stringValue?
                    .hasSuffix("rain.wav")
                    == true)
            #expect(later.call("session.close", ["name": "night"]) == [:])
            #expect(later.refusal("queue.list", ["session": "night"]) == "100 noSession")
            #expect(again.stop() == 0)
        }

        @Test("a batch makes sixteen sessions and no more, and all of them are there after a restart")
        func limit() async throws {
            let folder = TemporaryFolder()
            let daemon = await RealDaemon.start(nil, output: "null", in: folder)
            let client = daemon.connect()
            let padding = String(repeating: "n", count: 62)
            let steps = (10..<34).map { number in
                client.request(
                    "session.create",
                    [
                        "name": .string("\(number)" + padding), "policy": "pauseSpoken", "duckTo": -12.345678901234567,
                        "ramp": 1.2345678901234567, "publishes": false,
                    ]
                ).text
            }
            client.sendLine("[" + steps.joined(separator: ",") + "]")
            let answers = client.batchAnswer()
            #expect(answers.count { $0["result"] != nil } == 16)
            #expect(answers.count { $0["error"]?["data"]?["reason"] == "tooMany" } == 8)
            #expect(client.refusal("session.create", ["name": "one-more"]) == "200 tooMany")
            func names(_ client: Client) -> [String] {
                client.call("session.list")?["sessions"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
            }
            let before = names(client)
            #expect(before.count == 17 && daemon.stop() == 0)
            let again = await RealDaemon.start(nil, output: "null", in: folder)
            #expect(names(again.connect()) == before)
            #expect(again.stop() == 0)
        }

        @Test("a lasting session can be closed by the user who made it, after a restart, too, and by no other user")
        func closing() async throws {
            let folder = TemporaryFolder()
            var daemon = await RealDaemon.start(nil, output: "null", in: folder)
            var owner = daemon.connect()
            var guest = daemon.connect()
            guest.call("hello", ["role": "control"])
            for name in ["first", "second"] { guest.call("session.create", ["name": .string(name)]) }
            for name in ["own", "owned"] { owner.call("session.create", ["name": .string(name)]) }
            #expect(guest.refusal("session.close", ["name": "own"]) == "403")
            #expect(guest.call("session.close", ["name": "first"]) == [:])
            #expect(daemon.stop() == 0)
            daemon = await RealDaemon.start(nil, output: "null", in: folder)
            (owner, guest) = (daemon.connect(), daemon.connect())
            guest.call("hello", ["role": "control"])
            #expect(guest.refusal("session.close", ["name": "owned"]) == "403")
            #expect(guest.call("session.close", ["name": "second"]) == [:])
            #expect(owner.call("session.close", ["name": "own"]) == [:])
            #expect(daemon.stop() == 0)
        }

        @Test("who plays before it says what is followed when it does") func late() async throws {
            let daemon = await RealDaemon.silent()
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let player = daemon.connect()
            player.call("session.create", ["name": "airplay", "external": true, "commands": ["pause"]])
            player.call("nowPlaying.publish", ["session": "airplay", "state": "playing"])
            #expect(active(client) == "main")
            player.call("nowPlaying.publish", ["session": "airplay", "state": "playing", "item": ["title": "Blue"]])
            #expect(client.event("session")["item"]?["title"] == "Blue")
            #expect(active(client) == "airplay")
            #expect(daemon.stop() == 0)
        }

        @Test("another program is shown and commanded; one that hangs, lies or dies is no harm")
        func external() async throws {
            let daemon = await RealDaemon.silent()
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(daemon.folder.silence("music.wav", seconds: 60))])
            _ = client.event("play")
            var player: Client? = daemon.connect()
            player?.call("session.create", ["name": "airplay", "external": true, "commands": ["play", "pause"]])
            #expect(client.refusal("nowPlaying.publish", ["session": "airplay", "state": "playing"]) == "403")
            #expect(client.refusal("nowPlaying.publish", ["session": "main", "state": "playing"]) == "200 notExternal")
            let item: JSONValue = ["title": "Aria", "artist": "Glenn", "duration": 200]
            let begin = now()
            player?.call(
                "nowPlaying.publish",
                ["session": "airplay", "state": "playing", "item": item, "anchor": ["elapsed": 12.5]])
            let (play, change) = (client.event("play"), client.event("session"))
            #expect(play["session"] == "airplay" && play["item"]?["title"] == "Aria" && play.rate == 1)
            #expect(play.elapsed == 12.5 && play.monotonic >= begin && play.monotonic <= now())
            #expect(change["item"]?["title"] == "Aria" && change.playing == "playing")
            #expect(client.call("nowPlaying.get", ["session": "main"])?.playing == "interrupted")
            // The same again is no event; another place is one.
            let same = player?.call(
                "nowPlaying.publish",
                [
                    "session": "airplay", "state": "playing", "item": item,
                    "anchor": ["elapsed": .number(12.5 + now() - play.monotonic)],
                ])
            #expect(same?["seq"]?.integerValue == change.sequence)
            player?.call(
                "nowPlaying.publish",
                ["session": "airplay", "state": "playing", "item": item, "anchor": ["elapsed": 100]])
            #expect(client.event().words == "seek")
            // A command, and its answer.
            let paused = client.send("pause")
            let request = try #require(player?.nextRequest())
            #expect(request["method"] == "pause" && request["params"] == ["session": "airplay"])
            player?.call("nowPlaying.publish", ["session": "airplay", "state": "paused", "item": item])
            player?.respond(to: request, ["status": "success"])
            #expect(client.answer(paused)["result"]?.playing == "paused")
            #expect(client.refusal("nextTrack") == "200 disabled")
            // It lies, refuses, hangs.
            var number = client.send("play")
            player?.respond(to: player?.nextRequest() ?? .null, ["status": "of course"])
            #expect(client.answer(number)["error"]?["data"]?["reason"] == "notUnderstood")
            let statuses: [(String, JSONValue)] = [
                ("noSuchContent", 100), ("noActionableNowPlayingItem", 110), ("deviceNotFound", 120),
                ("commandFailed", 200),
            ]
            for (status, code) in statuses {
                number = client.send("play")
                player?.respond(to: player?.nextRequest() ?? .null, ["status": .string(status)])
                let error = client.answer(number)["error"]
                #expect(error?["code"] == code && error?["data"]?["status"] == .string(status))
            }
            #expect(client.refusal("play") == "200 noAnswer")
            // A session with a queue is the daemon's own all the same.
            #expect(client.call("queue.list")?["count"] == 1)
            // It dies: main is back.
            _ = client.takeNotifications()
            player = nil
            #expect(client.event("session")["session"] == "main")
            #expect(client.refusal("nowPlaying.get", ["session": "airplay"]) == "100 noSession")
            #expect(becomes { client.call("nowPlaying.get")?.playing == "playing" }, "what it had held goes on")
            #expect(daemon.stop() == 0)
        }
    }
}

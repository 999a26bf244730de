import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension Acceptance {
    /// The end of a session: leftovers and events.
    @Suite(.timeLimit(.minutes(5))) struct SessionEndTests {
        init() { LoopThread.start() }

        private func states(_ client: Client) -> [String] {
            let list = client.call("session.list")?["sessions"]?.arrayValue ?? []
            return list.map {
                "\($0["name"]?.stringValue ?? "") \($0.playing)" + ($0["active"] == true ? " active" : "")
            }
        }

        private func create(_ client: Client, _ name: String, _ terms: JSONValue = [:]) {
            var words = JSONObject([.init("name", .string(name))])
            for member in terms.objectValue?.members ?? [] { words[member.name] = member.value }
            #expect(client.call("session.create", .object(words)) == ["name": .string(name)])
        }

        @Test("a closed session publishes one last state to its followers, and nobody waits for it")
        func closed() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            let follower = daemon.connect()
            let bare = daemon.connect()
            bare.call("nowPlaying.subscribe")
            for turn in 0..<20 {
                client.call("session.create", ["name": "brief"])
                follower.call("nowPlaying.subscribe", ["session": "brief"])
                client.call(
                    "queue.add",
                    ["session": "brief", "items": [.string(daemon.folder.silence("brief.wav", seconds: 60))]])
                // Each request during the end gets an answer, and none is carried out in another session.
                let other = daemon.connect()
                let music = JSONValue.string(daemon.folder.silence("else.wav", seconds: 60))
                let sent = [
                    other.send("play", ["session": "brief"]), other.send("pause", ["session": "brief"]),
                    other.send("queue.add", ["session": "brief", "items": [music], "play": true]),
                ]
                #expect(client.call("session.close", ["name": "brief"]) == [:])
                for number in sent {
                    let error = other.answer(number)["error"]
                    #expect(error == nil || error?["data"]?["reason"] == "noSession", "\(turn)")
                }
                var last = follower.event()
                while last.words != "session" || last.playing != "stopped", last != .null { last = follower.event() }
                #expect(last["session"] == "brief" && last["item"] == .null && last.rate == 0)
                #expect(follower.events() == [], "one last state")
                #expect(client.call("queue.list", ["session": "main"])?["count"] == 0)
            }
            #expect(states(client) == ["main stopped active"])
            #expect(bare.takeNotifications().allSatisfy { $0["session"] == "main" || $0.playing == "playing" })
            #expect(daemon.stop() == 0)
        }

        @Test("a session whose client goes before it is there never is") func abandoned() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            for number in 0..<40 {
                let gone = daemon.connect()
                gone.send("session.create", ["name": .string("s\(number % 8)"), "whileConnected": true])
            }
            #expect(becomes { states(client) == ["main stopped active"] })
            // Until it is made, and given up, its name is taken.
            #expect(becomes { client.call("session.create", ["name": "s0", "whileConnected": true]) != nil })
            // The last message may be read only now. The session lasts until its end is noticed.
            #expect(becomes { states(client) == ["main stopped active", "s0 stopped"] })
            #expect(daemon.stop() == 0)
        }

        @Test("a session on a sound server leaves nothing open when it ends") func leavesNothing() async throws {
            let server = await SoundServer.pulseAudio([TestSink("s")])
            let daemon = await RealDaemon.start(server, readsTitles: false)
            let client = daemon.connect()
            let music = JSONValue.string(daemon.folder.silence("brief.wav", seconds: 60))
            var open = 0
            for turn in 0..<6 {
                create(client, "brief")
                client.call("nowPlaying.subscribe", ["session": "brief"])
                client.call("queue.add", ["session": "brief", "items": [music], "play": true])
                #expect(client.event("play").playing == "playing")
                #expect(client.call("session.close", ["name": "brief"]) == [:])
                client.call("nowPlaying.unsubscribe")
                _ = client.takeNotifications()
                // Descriptors that the first one opens may stay.
                let isFirst = turn == 0
                let settles = becomes {
                    let figures = ProcessFigures(daemon.process.pid, withMemory: false)
                    defer { if isFirst { open = figures.descriptors } }
                    return figures.threads <= 3 && (isFirst || figures.descriptors <= open)
                }
                #expect(settles, "\(turn): more than \(open)")
            }
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("what another program was asked is answered when its session is closed, or it goes")
        func unanswered() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let (client, other) = (daemon.connect(), daemon.connect())
            let commands = ["like", "rating", "pause", "nextTrack"]
            for way in ["by another", "by itself", "goes"] {
                var player: Client? = daemon.connect()
                create(
                    player ?? other, "cast", ["external": true, "commands": .array(commands.map { .string($0) })])
                player?.call(
                    "nowPlaying.publish", ["session": "cast", "state": "playing", "item": ["title": "Aria"]])
                let sent = commands.map { command in
                    client.send(command, command == "rating" ? ["session": "cast", "rating": 3] : ["session": "cast"])
                }
                let asked = commands.map { _ in player?.nextRequest() ?? .null }
                #expect(asked.map { $0["method"]?.stringValue } == commands)
                switch way {
                case "by another": #expect(other.call("session.close", ["name": "cast"]) == [:])
                case "by itself": #expect(player?.call("session.close", ["name": "cast"]) == [:])
                default: player = nil
                }
                for number in sent {
                    let error = client.answer(number)["error"]
                    #expect(error?["code"] == 100 && error?["data"]?["reason"] == "noSession", "\(way)")
                    #expect(error?["message"]?.stringValue?.contains("closed before") == true, "\(way)")
                }
                // A later answer does no harm, and causes no second answer.
                for request in asked { player?.respond(to: request, ["status": "success"]) }
                player?.call("hello")
                #expect(client.call("session.list") != nil && states(client) == ["main stopped active"], "\(way)")
            }
            #expect(daemon.stop() == 0)
        }

        @Test("what was said of an item is remembered, though its session is closed at once")
        func remembered() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            for turn in 1...12 {
                let file = JSONValue.string(daemon.folder.silence("\(turn).wav", seconds: 60 + Double(turn)))
                create(client, "brief")
                client.call("play", ["session": "brief", "uri": file])
                let liked = client.send("like", ["session": "brief"])
                let closed = client.send("session.close", ["name": "brief"])
                let answer = client.answer(liked)
                #expect(
                    answer["result"]?["status"] == "success" || answer["error"]?["data"]?["reason"] == "noSession")
                #expect(client.answer(closed)["result"] == [:])
                #expect(client.finds(liked: file), "\(turn)")
            }
            #expect(daemon.stop() == 0)
        }

        @Test("one of the same name begins with nothing, and is kept") func anew() async throws {
            let folder = TemporaryFolder()
            let daemon = await RealDaemon.start(nil, output: "null", in: folder, readsTitles: false)
            let client = daemon.connect()
            let items = daemon.silences(60, 61, 62)
            for turn in 0..<20 {
                create(client, "night")
                #expect(client.call("queue.list", ["session": "night"])?["count"] == 0, "\(turn)")
                client.call("queue.add", ["session": "night", "items": items, "play": .bool(turn % 2 == 0)])
                // Its changes are on their way to the disk, or will be.
                if turn % 7 == 0 { #expect(becomes { folder.read("state/sessions/night/queue").isEmpty == false }) }
                if turn < 19 { #expect(client.call("session.close", ["name": "night"]) == [:]) }
            }
            #expect(daemon.stop() == 0)
            let again = await RealDaemon.start(nil, output: "null", in: folder, readsTitles: false)
            #expect(again.connect().call("queue.list", ["session": "night"])?["count"] == 3)
            #expect(again.stop() == 0)
        }
    }
}

extension Client {
    /// True if a played file is a liked one: it is looked up when it begins, which may be too soon.
    func finds(liked file: JSONValue) -> Bool {
        for _ in 0..<20 {
            call("play", ["uri": file])
            for _ in 0..<100 {
                if call("nowPlaying.get")?["item"]?["isLiked"] == true { return true }
                usleep(5000)
            }
        }
        return false
    }
}

import ControlProtocol
import TestSupport
import Testing

extension Acceptance {
    /// The session that people hear is the one that remotes show and pause.
    @Suite(.timeLimit(.minutes(5))) struct ActiveSessionTests {
        init() { LoopThread.start() }

        /// A daemon in which `main` plays the first of three items, a client that follows it, and another program.
        private func playing() async -> (daemon: RealDaemon, client: Client, player: Client) {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("queue.add", ["items": daemon.silences(600, 600, 600), "play": true])
            client.call("nowPlaying.subscribe")
            return (daemon, client, daemon.connect())
        }

        private func create(_ player: Client) {
            player.call("session.create", ["name": "cast", "external": true, "commands": ["play", "pause"]])
        }

        private func publish(_ player: Client, _ state: String, hasItem: Bool = true) {
            var words = JSONObject([.init("session", "cast"), .init("state", .string(state))])
            if hasItem { words["item"] = ["title": "Aria", "duration": 200] }
            player.call("nowPlaying.publish", .object(words))
        }

        /// State, active session and eligibility of each session.
        private func states(_ client: Client) -> [String] {
            let list = client.call("session.list")?["sessions"]?.arrayValue ?? []
            return list.map {
                "\($0["name"]?.stringValue ?? "") \($0.playing)" + ($0["active"] == true ? " active" : "")
                    + ($0["canBecomeActive"] == true ? "" : " ineligible")
            }
        }

        @Test("another program stops: what resumes is shown and paused", arguments: [true, false])
        func externalStops(hasItem: Bool) async throws {
            let (daemon, client, player) = await playing()
            create(player)
            publish(player, "playing")
            #expect(client.event("session")["activeChanged"] == ["from": "main", "to": "cast", "why": "played"])
            #expect(becomes { states(client) == ["main interrupted", "cast playing active"] })
            publish(player, "stopped", hasItem: hasItem)
            let (stop, change) = (client.event("stop"), client.event("session"))
            #expect(stop["session"] == "cast" && change["session"] == "main")
            #expect(change["activeChanged"] == ["from": "cast", "to": "main", "why": "ended"])
            #expect(change["item"]?["uri"] != nil && change.sequence > stop.sequence)
            #expect(becomes { states(client) == ["main playing active", "cast stopped ineligible"] })
            #expect(client.call("nowPlaying.get")?["session"] == "main")
            #expect(client.call("nextTrack")?.playing == "playing")
            #expect(client.call("nowPlaying.get")?["session"] == "main")
            #expect(client.call("pause")?.playing == "paused")
            #expect(client.call("session.activate", ["name": "cast"]) == ["active": false])
            // It plays again, and its program goes away.
            #expect(client.call("play")?.playing == "playing")
            publish(player, "playing")
            #expect(becomes { states(client) == ["main interrupted", "cast playing active"] })
            #expect(client.event("session")["session"] == "cast")
            player.call("session.close", ["name": "cast"])
            #expect(client.event("session")["activeChanged"] == ["from": "cast", "to": "main", "why": "ended"])
            #expect(becomes { states(client) == ["main playing active"] })
            #expect(daemon.stop() == 0)
        }

        @Test("a local session ends: what resumes is shown and paused", arguments: ["stop", "end", "close"])
        func localEnds(by way: String) async throws {
            let (daemon, client, _) = await playing()
            client.call("session.create", ["name": "night"])
            let item = daemon.folder.silence("night.wav", seconds: way == "end" ? 0.5 : 600)
            client.call("queue.add", ["session": "night", "items": [.string(item)]])
            client.call("play", ["session": "night"])
            #expect(client.event("session")["activeChanged"] == ["from": "main", "to": "night", "why": "played"])
            switch way {
            case "stop": client.call("stop")
            case "close": client.call("session.close", ["name": "night"])
            default: break
            }
            let change = client.event("session")
            #expect(change["session"] == "main")
            let why: JSONValue = way == "close" ? "ended" : "resumed"
            #expect(change["activeChanged"] == ["from": "night", "to": "main", "why": why])
            #expect(becomes { client.call("nowPlaying.get", ["session": "main"])?.playing == "playing" })
            let answer = client.call("pause")
            #expect(answer?.playing == "paused")
            #expect(client.call("nowPlaying.get", ["session": "main"])?.playing == "paused")
            #expect(daemon.stop() == 0)
        }

        @Test("a paused choice of a client stays active beside one that sounds, until it stops")
        func choice() async throws {
            let (daemon, client, player) = await playing()
            create(player)
            publish(player, "paused")
            #expect(client.call("session.activate", ["name": "cast"]) == ["active": true])
            #expect(client.event("session")["activeChanged"] == ["from": "main", "to": "cast", "why": "chosen"])
            client.call("nextTrack", ["session": "main"])
            #expect(states(client) == ["main playing", "cast paused active"])
            publish(player, "stopped")
            #expect(client.event("session")["activeChanged"] == ["from": "cast", "to": "main", "why": "ended"])
            // A silent session that is not paused can't be chosen over it.
            client.call("session.create", ["name": "night"])
            client.call("queue.add", ["session": "night", "items": daemon.silences(60)])
            #expect(client.call("session.activate", ["name": "night"]) == ["active": false])
            #expect(client.call("stop")?.playing == "stopped")
            #expect(client.call("session.activate", ["name": "night"]) == ["active": true])
            #expect(daemon.stop() == 0)
        }

        @Test("of two that sound together, the one that goes on is shown while the other is paused")
        func together() async throws {
            let (daemon, client, _) = await playing()
            client.call("session.create", ["name": "voice", "policy": "duck"])
            client.call("queue.add", ["session": "voice", "items": daemon.silences(600)])
            client.call("play", ["session": "voice"])
            #expect(client.event("session")["activeChanged"]?["why"] == "played")
            #expect(client.call("pause")?.playing == "paused")
            #expect(client.event("session")["activeChanged"] == ["from": "voice", "to": "main", "why": "silent"])
            #expect(client.call("pause")?.playing == "paused")
            #expect(states(client) == ["main paused active", "voice paused"])
            client.call("queue.clear")
            #expect(states(client) == ["main stopped active ineligible", "voice paused"], "the next items are for it")
            #expect(daemon.stop() == 0)
        }
    }
}

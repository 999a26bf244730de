import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension Acceptance {
    /// What sessions do to each other, and what is left when one ends.
    @Suite(.timeLimit(.minutes(2))) struct SessionRuleTests {
        init() { LoopThread.start() }

        private func states(_ client: Client) -> [String] {
            let list = client.call("session.list")?["sessions"]?.arrayValue ?? []
            return list.map {
                "\($0["name"]?.stringValue ?? "") \($0.playing)" + ($0["active"] == true ? " active" : "")
            }
        }

        @Test("who is held is heard again by whichever command plays, and the other is held instead")
        func heldAndPlayed() async throws {
            let daemon = await RealDaemon.silent()
            let client = daemon.connect()
            let files = ["a.wav", "b.wav", "c.wav"].map { JSONValue.string(daemon.folder.silence($0, seconds: 600)) }
            client.call("queue.add", ["items": .array(files), "play": true])
            client.call("session.create", ["name": "night"])
            client.call("queue.add", ["session": "night", "items": .array(files)])
            let item = try #require(client.call("nowPlaying.get", ["session": "main"])?.itemID)
            let ways: [(method: String, words: JSONValue)] = [
                ("play", ["session": "main"]), ("play", ["session": "main", "uri": files[1]]),
                ("play", ["session": "main", "index": 0]), ("play", ["session": "main", "position": 30]),
            ]
            for way in ways {
                client.call("play", ["session": "night"])
                #expect(becomes { states(client) == ["main interrupted", "night playing active"] })
                #expect(client.call(way.method, way.words)?.playing == "playing", "\(way)")
                #expect(becomes { states(client) == ["main playing active", "night interrupted"] }, "\(way)")
            }
            #expect(client.call("nowPlaying.get", ["session": "main"])?.itemID != item)
            // Paused while it was held, the button that does both plays it.
            client.call("play", ["session": "night"])
            #expect(becomes { states(client) == ["main interrupted", "night playing active"] })
            #expect(client.call("pause", ["session": "main"])?.playing == "paused")
            #expect(client.call("togglePlayPause", ["session": "main"])?.playing == "playing")
            #expect(becomes { states(client) == ["main playing active", "night interrupted"] })
            // What moves in it alone is still silent.
            client.call("play", ["session": "night"])
            #expect(becomes { states(client) == ["main interrupted", "night playing active"] })
            let seek = client.call("changePlaybackPosition", ["session": "main", "position": 90])
            #expect(seek?.playing == "interrupted")
            #expect(states(client) == ["main interrupted", "night playing active"])
            #expect(daemon.stop() == 0)
        }

        @Test("a session that is closed tells one last state to those who follow it, and nobody waits for it")
        func closed() async throws {
            let daemon = await RealDaemon.silent()
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
                // With the end on its way, nothing of what is asked is left without an answer, nor done elsewhere.
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
            let daemon = await RealDaemon.silent()
            let client = daemon.connect()
            for number in 0..<40 {
                let gone = daemon.connect()
                gone.send("session.create", ["name": .string("s\(number % 8)"), "whileConnected": true])
            }
            #expect(becomes { states(client) == ["main stopped active"] })
            // Until it is made, and given up, its name is taken.
            #expect(becomes { client.call("session.create", ["name": "s0", "whileConnected": true]) != nil })
            #expect(states(client) == ["main stopped active", "s0 stopped"])
            #expect(daemon.stop() == 0)
        }

        @Test("with activate-on-play off only session.activate changes what is followed")
        func activation() async throws {
            let folder = TemporaryFolder()
            _ = folder.write(Array("[sessions]\nactivate-on-play = no\n".utf8), "settings.conf")
            let daemon = await RealDaemon.start(
                nil, output: "null", in: folder, ["--config", folder.path("settings.conf")])
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(folder.silence("a.wav", seconds: 600))])
            client.call("session.create", ["name": "night"])
            client.call(
                "queue.add", ["session": "night", "items": [.string(folder.silence("b.wav", seconds: 600))]])
            #expect(client.call("play", ["session": "night"])?.playing == "playing")
            #expect(becomes { states(client) == ["main interrupted active", "night playing"] })
            #expect(client.events().contains("session") == false)
            #expect(client.call("session.activate", ["name": "night"]) == ["active": true])
            #expect(client.event("session")["session"] == "night")
            #expect(states(client) == ["main interrupted", "night playing active"])
            #expect(daemon.stop() == 0)
        }

        @Test("of another program are the picture that it names, and what its listener thinks of the item")
        func pictureAndOpinion() async throws {
            let folder = TemporaryFolder()
            let settings = "[daemon]\ncache-directory = \(folder.path("cache"))\n"
            _ = folder.write(Array(settings.utf8), "settings.conf")
            let picture = ArtworkTests.gif(77)
            _ = folder.write(picture, "sleeve.gif")
            let daemon = await RealDaemon.start(
                nil, output: "null", in: folder, ["--config", folder.path("settings.conf")])
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let player = daemon.connect()
            player.call("session.create", ["name": "cast", "external": true, "commands": ["like", "rating"]])
            func publish(_ more: JSONValue = [:]) {
                var item = JSONObject([.init("title", "Aria"), .init("duration", 200)])
                for member in more.objectValue?.members ?? [] { item[member.name] = member.value }
                player.call("nowPlaying.publish", ["session": "cast", "state": "playing", "item": .object(item)])
            }
            publish()
            #expect(client.event("play")["item"]?["artwork"] == nil)
            // It comes later, as with shairport-sync.
            publish(["artworkUrl": .string("file://" + folder.path("sleeve.gif"))])
            var found = client.event("metadata")
            while found["item"]?["artwork"] == nil, found != .null { found = client.event("metadata") }
            let artwork = try #require(found["item"]?["artwork"]?.arrayValue?.first)
            #expect(artwork["width"] == 77 && artwork["type"] == "image/gif")
            let path = client.call("artwork.get", ["id": artwork["id"] ?? .null])?["path"]?.stringValue ?? ""
            #expect(folder.read(String(path.dropFirst(folder.path.count + 1))) == picture)
            // A like is the player's to take, and to tell.
            let version = found["commandsVersion"]?.integerValue ?? 0
            let liked = client.send("like")
            let request = player.nextRequest()
            #expect(request["method"] == "like")
            publish([
                "artworkUrl": .string("file://" + folder.path("sleeve.gif")), "isLiked": true, "rating": 4,
            ])
            player.respond(to: request, ["status": "success"])
            #expect(client.answer(liked)["result"]?["status"] == "success")
            let feedback = client.event("feedback")
            #expect(feedback["item"]?["isLiked"] == true && feedback["item"]?["rating"] == 4)
            #expect(feedback["item"]?["artwork"]?.arrayValue?.first == artwork)
            #expect(feedback["commandsVersion"]?.integerValue == version + 1)
            let commands = client.call("commands.list")?["commands"]?.arrayValue ?? []
            #expect(commands.first { $0["command"] == "like" }?["isActive"] == true)
            #expect(daemon.stop() == 0)
        }

        @Test("two that mix are both heard, each as loud as it is") func mixed() async throws {
            let place = await RecordedSink.start(TestSink("mix"))
            let (client, folder) = (place.follow(), place.daemon.folder)
            let count = 44100 * 6
            let music = PositionCode.int16(from: 0, count: count).map { $0 / 4 }
            let rain = PositionCode.int16(from: 9_000_000, count: count).map { $0 / 4 }
            func file(_ samples: [Int16], _ name: String) -> JSONValue {
                let material = AudioMaterial(
                    sampleRate: 44100, channels: 2, bits: 16, samples: samples.map { Int32($0) })
                return .string(folder.write(material.wave(), name))
            }
            client.call("session.create", ["name": "rain", "policy": "mix"])
            let first = try #require(client.call("play", ["uri": file(music, "music.wav")]))
            let second = try #require(client.call("play", ["session": "rain", "uri": file(rain, "rain.wav")]))
            #expect(states(client) == ["main playing active", "rain playing"])
            await place.recorder.waitFor(more: 1.5)
            let until = place.recorder.frames
            place.recorder.stop()
            let samples = int16Samples(place.recorder.bytes())
            // A stretch of the last second, held against each file where its clock says that it was.
            let length = 1000
            let start = until - 30_000
            let instant = place.time(start)
            for (code, state) in [(music, first), (rain, second)] {
                let here = Int(state.position(at: instant) * 44100)
                var best = (level: 0.0, place: 0)
                for place in max(0, here - 900)...(here + 900) {
                    var (product, square) = (0.0, 0.0)
                    for index in stride(from: 0, to: 2 * length, by: 2) {
                        let (a, b) = (Double(samples[2 * start + index]), Double(code[2 * place + index]))
                        product += a * b
                        square += b * b
                    }
                    if product / square > best.level { best = (product / square, place) }
                }
                #expect(abs(best.level - 1) < 0.1, "as loud as \(best.level)")
                #expect(abs(Double(best.place - here)) < 0.02 * 44100, "its clock is off")
            }
            #expect(place.daemon.stop() == 0)
        }
    }
}

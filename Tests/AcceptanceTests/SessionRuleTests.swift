import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension Acceptance {
    /// Effects of sessions on each other.
    @Suite(.timeLimit(.minutes(5))) struct SessionRuleTests {
        init() { LoopThread.start() }

        private func states(_ client: Client) -> [String] {
            let list = client.call("session.list")?["sessions"]?.arrayValue ?? []
            return list.map {
                "\($0["name"]?.stringValue ?? "") \($0.playing)" + ($0["active"] == true ? " active" : "")
            }
        }

        @Test("who is held is heard again by whichever command plays, and the other is held instead")
        func heldAndPlayed() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
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
            // A motion in it alone is still silent.
            client.call("play", ["session": "night"])
            #expect(becomes { states(client) == ["main interrupted", "night playing active"] })
            let seek = client.call("changePlaybackPosition", ["session": "main", "position": 90])
            #expect(seek?.playing == "interrupted")
            #expect(states(client) == ["main interrupted", "night playing active"])
            #expect(daemon.stop() == 0)
        }

        @Test("a session that one takes over stays the active one while one that played alone publishes changes")
        func takenOver() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("play", ["uri": .string(daemon.folder.silence("a.wav", seconds: 600))])
            let player = daemon.connect()
            player.call("session.create", ["name": "cast", "external": true, "commands": ["play"]])
            player.call("nowPlaying.publish", ["session": "cast", "state": "paused", "item": ["title": "Aria"]])
            #expect(client.call("session.activate", ["name": "cast"]) == ["active": true])
            client.call("nowPlaying.subscribe", ["session": "main"])
            client.call("volume.set", ["session": "main", "volume": 0.5])
            #expect(client.event()["volume"] == 0.5)
            #expect(states(client) == ["main playing", "cast paused active"])
            #expect(daemon.stop() == 0)
        }

        @Test("a session that was paused while it was the only one is a new beginning beside another")
        func pausedAlone() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            let items: JSONValue = [.string(daemon.folder.silence("a.wav", seconds: 600))]
            func makeNight() {
                client.call("session.create", ["name": "night"])
                client.call("queue.add", ["session": "night", "items": items])
            }
            makeNight()
            client.call("queue.add", ["session": "main", "items": items, "play": true])
            #expect(becomes { states(client) == ["main playing active", "night stopped"] })
            client.call("session.close", ["name": "night"])
            #expect(client.call("pause")?.playing == "paused")
            makeNight()
            client.call("play", ["session": "night"])
            #expect(becomes { states(client) == ["main paused", "night playing active"] })
            client.call("togglePlayPause", ["session": "main"])
            #expect(becomes { states(client) == ["main playing active", "night interrupted"] })
            #expect(daemon.stop() == 0)
        }

        /// A daemon whose setting `activate-on-play` is off, and in which `main` plays.
        private func passive(_ folder: TemporaryFolder) async throws -> (RealDaemon, Client) {
            _ = folder.write(Array("[sessions]\nactivate-on-play = no\n".utf8), "settings.conf")
            let daemon = await RealDaemon.start(
                nil, output: "null", in: folder, ["--config", folder.path("settings.conf")])
            let client = daemon.connect()
            client.call("play", ["uri": .string(folder.silence("a.wav", seconds: 600))])
            return (daemon, client)
        }

        private func create(_ name: String, policy: String, _ client: Client, _ folder: TemporaryFolder) {
            client.call("session.create", ["name": .string(name), "policy": .string(policy)])
            let item = JSONValue.string(folder.silence("\(name).wav", seconds: 600))
            client.call("queue.add", ["session": .string(name), "items": [item]])
        }

        @Test("with activate-on-play off a session that begins becomes active only beside one that can't keep that")
        func activation() async throws {
            let folder = TemporaryFolder()
            let (daemon, client) = try await passive(folder)
            client.call("nowPlaying.subscribe")
            create("voice", policy: "duck", client, folder)
            #expect(client.call("play", ["session": "voice"])?.playing == "playing")
            #expect(becomes { states(client) == ["main playing active", "voice playing"] })
            #expect(client.events().contains("session") == false)
            #expect(client.call("session.activate", ["name": "voice"]) == ["active": true])
            let chosen = client.event("session")
            #expect(chosen["session"] == "voice")
            #expect(chosen["activeChanged"] == ["from": "main", "to": "voice", "why": "chosen"])
            #expect(client.call("stop")?.playing == "stopped")
            #expect(client.event("session")["activeChanged"] == ["from": "voice", "to": "main", "why": "stopped"])
            // One that holds `main` is the one that people hear.
            create("night", policy: "pause", client, folder)
            #expect(client.call("play", ["session": "night"])?.playing == "playing")
            #expect(client.event("session")["activeChanged"] == ["from": "main", "to": "night", "why": "silent"])
            #expect(becomes { states(client) == ["main interrupted", "night playing active", "voice stopped"] })
            #expect(daemon.stop() == 0)
        }

        @Test("a session that began to play with activate-on-play off gets no claim to be followed by a reload")
        func activationAfterReload() async throws {
            let folder = TemporaryFolder()
            let (daemon, client) = try await passive(folder)
            create("voice", policy: "duck", client, folder)
            #expect(client.call("play", ["session": "voice"])?.playing == "playing")
            #expect(becomes { states(client) == ["main playing active", "voice playing"] })
            _ = folder.write(Array("[sessions]\nactivate-on-play = yes\n".utf8), "settings.conf")
            #expect(client.call("daemon.reload")?["changed"] == ["activate-on-play"])
            client.call("changeRepeatMode", ["session": "voice", "mode": "all"])
            #expect(states(client) == ["main playing active", "voice playing"])
            client.call("play", ["session": "voice"])
            #expect(states(client) == ["main playing", "voice playing active"])
            #expect(daemon.stop() == 0)
        }

        @Test("with no command that it takes a session does not become the active one") func silenced() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("session.create", ["name": "night"])
            client.call("queue.add", ["session": "night", "items": daemon.silences(60)])
            let commands = client.call("commands.list", ["session": "night"])?["commands"]?.arrayValue ?? []
            let names = commands.compactMap { $0["command"]?.stringValue }
            func configure(_ isEnabled: Bool, _ names: some Sequence<String>) {
                for name in names {
                    let words: JSONValue = [
                        "session": "night", "command": .string(name), "enabled": .bool(isEnabled),
                    ]
                    #expect(client.call("commands.configure", words) != nil)
                }
            }
            configure(false, names)
            #expect(names.count >= 18)
            #expect(client.call("session.activate", ["name": "night"]) == ["active": false])
            configure(true, names.prefix(1))
            #expect(client.call("session.activate", ["name": "night"]) == ["active": true])
            // A session of another program that takes no commands is shown to clients that name it.
            let player = daemon.connect()
            player.call("session.create", ["name": "cast", "external": true])
            player.call("nowPlaying.publish", ["session": "cast", "state": "playing", "item": ["title": "Aria"]])
            #expect(client.call("session.activate", ["name": "cast"]) == ["active": false])
            #expect(states(client) == ["main stopped", "cast playing", "night stopped active"])
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
                nil, output: "null", in: folder, readsTitles: false, ["--config", folder.path("settings.conf")])
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
            // The player receives a like, and publishes it.
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
            // One on the network is published before it is fetched.
            publish(["artworkUrl": "https://127.0.0.1:9/a.png"])
            #expect(
                becomes {
                    let shown = client.call("nowPlaying.get")?["item"]?["artwork"]?.arrayValue?.first
                    return shown != nil && shown?["width"] == nil
                })
            #expect(daemon.stop() == 0)
        }

        @Test("one gets as quiet as another asks for; two that mix are both heard, each as loud as it is")
        func heardTogether() async throws {
            let place = await RecordedSink.start(TestSink("mix"))
            let (client, folder) = (place.follow(), place.daemon.folder)
            let terms: JSONValue = ["name": "voice", "policy": "duck", "duckTo": -20, "ramp": 0.1]
            client.call("session.create", terms)
            let code = JSONValue.string(folder.codeWave("code.wav", from: 0, count: 44100 * 15))
            let play = try #require(client.call("play", ["uri": code]))
            await place.recorder.waitFor(more: 0.3)
            let hush = JSONValue.string(folder.silence("hush.wav", seconds: 60, rate: 44100, channels: 2))
            client.call("play", ["session": "voice", "uri": hush])
            await place.recorder.waitFor(more: 0.5)
            #expect(client.call("stop", ["session": "voice"])?.playing == "stopped")
            await place.recorder.waitFor(more: 0.5)
            let levels = CodeRecording(place.recorder, rate: 44100).levels(play.monotonic...now()) { _ in true }
            #expect(levels.first?.level == 1 && levels.last?.level == 1)
            #expect(levels.count { abs($0.level - 0.1) < 0.002 } >= 10, "\(levels.map(\.level))")
            #expect(levels.allSatisfy { $0.level > 0.098 })
            client.call("session.activate", ["name": "main"])
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
            #expect(states(client) == ["main playing active", "rain playing", "voice stopped"])
            await place.recorder.waitFor(more: 1.5)
            let until = place.recorder.frames
            place.recorder.stop()
            let samples = int16Samples(place.recorder.bytes())
            // The heard frames are found in each file near the position of its clock by a short stretch, and measured over
            // a long one. To either file, the other is noise of one in the root of the number of samples.
            let start = until - 35_000
            let instant = place.time(start)
            func level(_ code: [Int16], _ place: Int, _ length: Int) -> Double {
                var (product, square) = (0.0, 0.0)
                for index in 0..<(2 * length) {
                    let (a, b) = (Double(samples[2 * start + index]), Double(code[2 * place + index]))
                    product += a * b
                    square += b * b
                }
                return product / square
            }
            for (code, state) in [(music, first), (rain, second)] {
                let here = Int(state.position(at: instant) * 44100)
                let places = max(0, here - 900)...(here + 900)
                let best = places.map { (level: level(code, $0, 500), place: $0) }.max { $0.level < $1.level }
                let found = try #require(best?.place)
                try #require(2 * (found + 30_000) <= code.count, "the end was near")
                let loud = level(code, found, 30_000)
                #expect(abs(loud - 1) < 0.02, "as loud as \(loud)")
                #expect(abs(Double(found - here)) < 0.02 * 44100, "its clock is off")
            }
            #expect(place.daemon.stop() == 0)
        }
    }
}

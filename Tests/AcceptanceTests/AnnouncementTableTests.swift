import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension Acceptance {
    /// Cases of announcements: events, their numbers, and the audible frames before, during and after, with their times.
    ///
    /// By day they are short. They are made at once, each on a device of its own.
    @Suite(.timeLimit(.minutes(5))) struct AnnouncementTableTests {
        typealias Words = AnnouncementTable.Words

        private static let isNight = AnnouncementTable.isNight
        /// Seconds in which it is as loud as before.
        private static let release = isNight ? 0.5 : 0.15
        private static let settings =
            "[announcements]\nduck-to = -20\nattack = \(isNight ? 0.1 : 0.05)\nrelease = \(release)\n"
        /// Frames of the playing item.
        private static let length = 44100 * (isNight ? 60 : 30)

        init() { LoopThread.start() }

        private func hush(
            _ folder: TemporaryFolder, _ name: String = "hush.wav", _ seconds: Double = isNight ? 0.6 : 0.3
        ) -> Words {
            Words(uri: .string(folder.silence(name, seconds: seconds, rate: 44100, channels: 2)), seconds: seconds)
        }

        private func code(_ folder: TemporaryFolder, _ name: String, _ first: Int) -> Words {
            let count = Self.isNight ? 26_460 : 13_230
            return Words(
                uri: .string(folder.codeWave(name, from: first, count: count)), seconds: Double(count) / 44100,
                code: first..<(first + count))
        }

        private func place(_ name: String) async -> (RecordedSink, AnnouncementTable) {
            let place = await RecordedSink.start(TestSink(name), settings: Self.settings)
            return (place, AnnouncementTable(place.follow(), place.recorder, release: Self.release) { place.waits() })
        }

        @Test("each case has the right events, numbers and sound") func table() async throws {
            async let music: Void = music()
            async let talk: Void = talk()
            async let call: Void = telephone()
            async let crash: Void = killed()
            async let station: Void = radio()
            _ = try await (music, talk, call, crash, station)
        }

        private func music() async throws {
            let (place, table) = await place("music")
            let (client, folder) = (table.client, place.daemon.folder)
            // Over silence: bit for bit, without events.
            await table.announce(
                "over nothing", code(folder, "a.wav", 5_000_000), .silent, by: ["volume": 1], base: nil)
            await table.announce(
                "over nothing, quiet", code(folder, "b.wav", 6_000_000), .silent, by: ["volume": 0.5], base: nil,
                volume: 0.125)
            client.call("play", ["uri": .string(folder.codeWave("music.wav", from: 0, count: Self.length))])
            _ = client.event("play")
            await table.announce("music", hush(folder), .plays(0.1))
            await table.announce(
                "music, spoken", hush(folder), .plays(0.5012), by: ["policy": "pauseSpoken", "duckTo": -6])
            await table.announce("music, mixed", hush(folder), .plays(1), by: ["policy": "mix"])
            await table.announce(
                "music, held", code(folder, "c.wav", 7_000_000), .held, by: ["policy": "pause", "volume": 1])
            let broken = Words(uri: .string(folder.write([1, 2, 3], "broken.wav")), seconds: 0)
            await table.announce("a broken file", broken, .plays(1), refusal: "100")
            let none = Words(uri: .string(folder.path("none.wav")), seconds: 0)
            await table.announce("no file", none, .plays(1), by: ["policy": "pause"], refusal: "100")
            // One after the other, and never loud in between.
            let other = place.daemon.connect()
            var three = hush(folder)
            let more = [hush(folder, "d.wav"), hush(folder, "e.wav")]
            three.seconds *= 3
            await table.announce("three at once", three, .plays(0.1)) {
                let sent = more.map { other.send("announce", ["uri": $0.uri, "priority": 5]) }
                for number in sent { #expect(other.answer(number)["result"]?["status"] == "success") }
            }
            await table.judge()
            #expect(place.daemon.stop() == 0)
        }

        private func talk() async throws {
            let (place, table) = await place("talk")
            let (client, folder) = (table.client, place.daemon.folder)
            let talk = JSONValue.string(folder.codeWave("talk.wav", from: 4_410_000, count: Self.length))
            client.call("queue.add", ["items": [["uri": talk, "mediaType": "podcast"]], "play": true])
            _ = client.event("play")
            await table.announce(
                "podcast", hush(folder), .held, by: ["policy": "pauseSpoken"], base: 4_410_000)
            await table.announce("podcast, ducked", hush(folder), .plays(0.1), base: 4_410_000)
            // Two that hold it: it goes on behind the second.
            let other = place.daemon.connect()
            let second = hush(folder, "second.wav")
            await table.announce("podcast, two", hush(folder), .held, by: ["policy": "pause"], base: 4_410_000) {
                let sent = other.send("announce", ["uri": second.uri, "policy": "pause"])
                #expect(other.answer(sent)["result"]?["status"] == "success")
            }
            client.call("pause")
            await table.announce("paused", hush(folder), .silent, by: ["policy": "pause"])
            client.call("stop")
            await table.announce("stopped", code(folder, "a.wav", 5_000_000), .silent, by: ["volume": 1])
            await table.judge()
            #expect(place.daemon.stop() == 0)
        }

        /// A telephone call holds the music: neither ends the other.
        private func telephone() async throws {
            let server = await SoundServer.pulseAudio([TestSink("sink")])
            server.control("load-module", "module-role-cork")
            let daemon = await RealDaemon.start(server)
            let recorder = await Recorder.start(server, TestSink("sink"))
            let (client, folder) = (daemon.connect(), daemon.folder)
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(folder.codeWave("music.wav", from: 0, count: Self.length))])
            _ = client.event("play")
            let table = AnnouncementTable(client, recorder) { server.waits(and: [daemon.process.pid]) }
            let words = [
                "pacat", "--server=\(server.address)", "--raw", "--latency-msec=50", "--property=media.role=phone",
                "--volume=0", "/dev/zero",
            ]
            let phone = await LoopThread.run { TestProcess(words) }
            let began = client.event("interruption-began")
            await table.announce("during a call", hush(folder), .silent, by: ["policy": "pause"])
            let long = hush(folder, "long.wav", 0.5).uri
            let asked = now()
            let sent = client.send("announce", ["uri": long, "policy": "pause"])
            // The call is over while something is said: the music waits for the end of that, too.
            phone.signal(SIGTERM)
            #expect(client.answer(sent)["result"]?["status"] == "success")
            let ended = client.event("interruption-ended")
            // The music stood when the announcement was requested; its recording is judged below.
            #expect(ended.goesOn(from: began.elapsed, after: asked), "\(began.elapsed) \(ended)")
            await table.announce("after the call", hush(folder), .plays(0.1), by: ["duckTo": -20])
            await table.judge()
            #expect(daemon.stop() == 0)
            server.stop()
        }

        /// A daemon that is killed in the middle of it is at its place again, as loud as it was.
        private func killed() async throws {
            let (place, _) = await place("killed")
            let folder = place.daemon.folder
            var client = place.follow()
            client.call("play", ["uri": .string(folder.codeWave("music.wav", from: 0, count: Self.length))])
            let play = client.event("play")
            await place.recorder.waitFor(more: 0.5)
            _ = client.send("announce", ["uri": hush(folder, "long.wav", 30).uri])
            #expect(
                becomes { place.server.control("list", "sink-inputs").contains("media.role = \"announce\"") })
            await place.recorder.waitFor(more: 0.5)
            place.daemon.process.signal(SIGKILL)
            _ = place.daemon.process.wait()
            let killed = now()
            let again = await RealDaemon.start(place.server, sink: "killed", in: folder)
            client = again.connect()
            client.call("nowPlaying.subscribe")
            let found = try #require(client.call("nowPlaying.get"))
            #expect(found.playing == "paused" && found["interruption"] == .null)
            #expect(found.elapsed <= play.position(at: killed) && found.elapsed >= play.elapsed)
            #expect(found["item"]?["uri"] == play["item"]?["uri"] && found["volume"] == play["volume"])
            let asked = now()
            client.call("play")
            let resumed = client.event("play")
            await place.recorder.waitFor(more: 0.5)
            let recording = CodeRecording(place.recorder, rate: 44100)
            let before = recording.levels(play.monotonic...killed) { _ in true }
            #expect(before.first?.level == 1)
            #expect(abs((before.last?.level ?? 0) - 0.1) < 0.002, "it was quiet when it was killed")
            let after = recording.levels(asked...now()) { _ in true }
            #expect(after.count > 10 && after.allSatisfy { $0.level == 1 }, "as loud as before")
            let first = Double(after.first?.frame ?? 0) / 44100
            // It begins where it stood; the published position is that of flowing sound.
            #expect(abs(first - found.elapsed) < 0.1, "heard from \(first) on, it stood at \(found.elapsed)")
            let moved = resumed.elapsed - found.elapsed
            #expect((-0.001..<0.1).contains(moved), "it went on \(moved) s from where it stood")
            place.recorder.stop()
            #expect(again.stop() == 0)
        }

        /// An announcement may come from the network; a radio station is ducked and held like music.
        private func radio() async throws {
            guard RealDaemon.hasDecodeProgram else { return }
            let (place, table) = await place("radio")
            let (client, folder) = (table.client, place.daemon.folder)
            let said = AudioMaterial(
                sampleRate: 44100, channels: 2, bits: 16, samples: Array(repeating: 0, count: 2 * 13_230)
            ).wave()
            let station = AudioMaterial(
                sampleRate: 44100, channels: 2, bits: 16,
                samples: PositionCode.int16(from: 0, count: Self.length).map { Int32($0) }
            ).wave(dataSize: 0xFFFF_FFFF)
            let server = HTTPServer { request, connection in
                switch request.target {
                case "/hush.wav": connection.file(said, type: "audio/wav", request)
                case "/station":
                    connection.head("200 OK", ["Content-Type: audio/wav", "icy-name: Code"])
                    connection.send(station)
                    connection.waitForEnd()
                default: connection.answer("404 Not Found")
                }
            }
            func remote(_ address: String) -> Words { Words(uri: .string(address), seconds: 0.3) }
            client.call("play", ["uri": .string(server.url("/station"))])
            #expect(becomes { client.call("nowPlaying.get")?.playing == "playing" })
            await table.announce("radio", remote(server.url("/hush.wav")), .plays(0.1), base: nil)
            await table.announce(
                "what is not there", remote(server.url("/none.wav")), .plays(1), base: nil, refusal: "100")
            await table.announce(
                "nobody there", remote("http://127.0.0.1:9/a.wav"), .plays(1), base: nil, refusal: "100")
            await table.announce("radio, mixed", hush(folder), .plays(1), by: ["policy": "mix"], base: nil)
            await table.announce("radio, held", hush(folder), .held, by: ["policy": "pause"], base: nil)
            await table.judge()
            #expect(place.daemon.stop() == 0)
        }
    }
}

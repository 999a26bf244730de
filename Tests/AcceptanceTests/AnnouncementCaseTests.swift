import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension Acceptance {
    /// Each case of announcements in its cheapest form: what is told, how it is numbered, and where it goes on. What is heard
    /// is in the table of recordings (at night).
    @Suite(.timeLimit(.minutes(2))) struct AnnouncementCaseTests {
        init() { LoopThread.start() }

        /// What becomes of what plays.
        private enum During { case plays, held, silent }

        private func say(_ folder: TemporaryFolder, _ name: String = "hush.wav", _ seconds: Double = 0.1) -> JSONValue {
            .string(folder.silence(name, seconds: seconds))
        }

        /// Has something announced, and compares all that is told before, meanwhile and after.
        private func announce(
            _ client: Client, _ name: String, _ parameters: JSONValue, _ during: During, refusal: String = "",
            meanwhile: () -> Void = {}
        ) {
            client.call("nowPlaying.get")
            _ = client.takeNotifications()
            guard let before = client.call("nowPlaying.get") else { return }
            let sent = client.send("announce", parameters)
            meanwhile()
            let answer = client.answer(sent)
            let code = answer["error"]?["code"]?.integerValue.map(String.init) ?? ""
            #expect(code == refusal, "\(name): \(JSONWriter.text(answer))")
            #expect(!refusal.isEmpty || answer["result"]?["status"] == "success", "\(name)")
            let count = during == .held ? 2 : 0
            var told: [JSONValue] = []
            while told.count(where: { $0.words != "drift" }) < count, told.last != .null { told.append(client.event()) }
            guard let after = client.call("nowPlaying.get") else { return }
            told += client.takeNotifications()
            #expect(
                told.map(\.words).filter { $0 != "drift" }
                    == (count == 2 ? ["interruption-began", "interruption-ended"] : []), "\(name)")
            #expect(told.map(\.sequence) == told.indices.map { before.sequence + 1 + Int64($0) }, "\(name)")
            for key in ["queue", "item", "repeatMode", "volume", "muted", "commandsVersion", "error"] {
                #expect(before[key] == after[key], "\(name): \(key)")
            }
            #expect(before.playing == after.playing, "\(name)")
            switch during {
            case .silent: #expect(before["anchor"] == after["anchor"], "\(name)")
            case .plays:
                // Its clock ran, and nothing better was known of it.
                let off = after.position(at: after.monotonic) - before.position(at: after.monotonic)
                #expect(abs(off) < 0.005, "\(name): the clock moved by \(off) s")
            case .held:
                guard told.count >= 2 else { return }
                let off = told[told.count - 1].elapsed - told[0].elapsed
                #expect(told[0].rate == 0 && told[0].playing == "interrupted", "\(name)")
                #expect(abs(off) < 0.005, "\(name): it goes on \(off) s from where it was held")
                let length = told[told.count - 1].monotonic - told[0].monotonic
                #expect(length >= 0.09, "\(name): held for \(length) s")
            }
        }

        @Test("music, a podcast, several at once, a broken file, paused, stopped: as it was, before and after")
        func table() async throws {
            let daemon = await RealDaemon.silent()
            let (client, folder) = (daemon.connect(), daemon.folder)
            client.call("nowPlaying.subscribe")
            announce(client, "over nothing", ["uri": say(folder)], .silent)
            let music = folder.silence("music.wav", seconds: 600)
            let talk: JSONValue = ["uri": .string(folder.silence("talk.wav", seconds: 600)), "mediaType": "podcast"]
            client.call("queue.add", ["items": [.string(music), talk], "play": true])
            for policy in ["duck", "mix", "pauseSpoken"] {
                announce(client, "music, \(policy)", ["uri": say(folder), "policy": .string(policy)], .plays)
            }
            announce(client, "music, pause", ["uri": say(folder), "policy": "pause"], .held)
            let broken = folder.write([1, 2, 3], "broken.wav")
            announce(client, "a broken file", ["uri": .string(broken), "policy": "pause"], .plays, refusal: "100")
            announce(client, "no file", ["uri": .string(folder.path("none.wav"))], .plays, refusal: "100")
            let other = daemon.connect()
            announce(client, "three at once", ["uri": say(folder), "policy": "pause"], .held) {
                let sent = ["b.wav", "c.wav"].map {
                    other.send("announce", ["uri": say(folder, $0), "policy": "pause", "priority": 5])
                }
                for number in sent { #expect(other.answer(number)["result"]?["status"] == "success") }
            }
            client.call("nextTrack")
            announce(client, "podcast", ["uri": say(folder), "policy": "pauseSpoken"], .held)
            announce(client, "podcast, duck", ["uri": say(folder), "policy": "duck"], .plays)
            client.call("pause")
            announce(client, "paused", ["uri": say(folder), "policy": "pause"], .silent)
            client.call("stop")
            announce(client, "stopped", ["uri": say(folder), "policy": "pause"], .silent)
            #expect(daemon.stop() == 0)
        }

        @Test("a telephone call in the middle of it: neither ends the other")
        func telephone() async throws {
            let server = await SoundServer.pulseAudio([TestSink("sink")])
            server.control("load-module", "module-role-cork")
            let daemon = await RealDaemon.start(server)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(daemon.folder.silence("music.wav", seconds: 600))])
            _ = client.event("play")
            let words = [
                "pacat", "--server=\(server.address)", "--raw", "--latency-msec=50", "--property=media.role=phone",
                "/dev/zero",
            ]
            let phone = await LoopThread.run { TestProcess(words) }
            let began = client.event("interruption-began")
            announce(client, "during a call", ["uri": say(daemon.folder), "policy": "pause"], .silent)
            let sent = client.send("announce", ["uri": say(daemon.folder, "long.wav", 0.5), "policy": "pause"])
            // The call is over while something is said: the music waits for the end of that, too.
            phone.signal(SIGTERM)
            #expect(client.answer(sent)["result"]?["status"] == "success")
            let ended = client.event("interruption-ended")
            #expect(ended.playing == "playing" && abs(ended.elapsed - began.elapsed) < 0.02)
            announce(client, "after the call", ["uri": say(daemon.folder)], .plays)
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("a daemon that is killed in the middle of it is at its place again")
        func killed() async throws {
            let daemon = await RealDaemon.silent()
            var client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(daemon.folder.silence("music.wav", seconds: 600))])
            let play = client.event("play")
            let other = daemon.connect()
            other.send("announce", ["uri": say(daemon.folder, "long.wav", 30), "policy": "pause"])
            let held = client.event("interruption-began")
            daemon.process.signal(SIGKILL)
            _ = daemon.process.wait()
            let again = await RealDaemon.start(nil, output: "null", in: daemon.folder)
            client = again.connect()
            let found = try #require(client.call("nowPlaying.get"))
            #expect(found.playing == "paused" && found["interruption"] == .null)
            #expect(found.elapsed >= play.elapsed && found.elapsed <= held.elapsed + 0.001)
            #expect(found["item"]?["uri"] == play["item"]?["uri"] && found["volume"] == play["volume"])
            #expect(client.call("play")?.playing == "playing")
            #expect(again.stop() == 0)
        }

        private static let confined =
            RealDaemon.program.dropLast("nowplayingd".count) + "nowplaying-decode"

        @Test(
            "a station goes on as it was; what is said may be in the network",
            .enabled(if: access(String(confined), X_OK) == 0, "nowplaying-decode is not built"))
        func radio() async throws {
            let daemon = await RealDaemon.silent()
            let client = daemon.connect()
            let hush = AudioMaterial(
                sampleRate: 44100, channels: 2, bits: 16, samples: Array(repeating: 0, count: 2 * 4410)
            ).wave()
            let station = AudioMaterial(
                sampleRate: 44100, channels: 2, bits: 16, samples: Array(repeating: 7, count: 2 * 44100 * 30)
            ).wave(dataSize: 0xFFFF_FFFF)
            let server = HTTPServer { request, connection in
                switch request.target {
                case "/hush.wav": connection.file(hush, type: "audio/wav", request)
                case "/station":
                    connection.head("200 OK", ["Content-Type: audio/wav", "icy-name: Code"])
                    connection.send(station)
                    connection.waitForEnd()
                default: connection.answer("404 Not Found")
                }
            }
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(server.url("/station"))])
            #expect(becomes { client.call("nowPlaying.get")?.playing == "playing" })
            announce(client, "radio", ["uri": .string(server.url("/hush.wav"))], .plays)
            let none = JSONValue.string(server.url("/none.wav"))
            announce(client, "what is not there", ["uri": none], .plays, refusal: "100")
            announce(client, "radio, held", ["uri": say(daemon.folder), "policy": "pause"], .held)
            #expect(daemon.stop() == 0)
        }
    }
}

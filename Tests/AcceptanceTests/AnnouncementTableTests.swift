import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension Acceptance {
    /// The cases of announcements, against recordings.
    @Suite(
        .enabled(if: environmentHas("NOWPLAYING_NIGHTLY"), "wants a machine that does nothing else"),
        .timeLimit(.minutes(3)))
    struct AnnouncementTableTests {
        init() { LoopThread.start() }

        private func hush(_ folder: TemporaryFolder, _ name: String = "hush.wav", _ seconds: Double = 0.6) -> JSONValue
        {
            .string(folder.silence(name, seconds: seconds, rate: 44100, channels: 2))
        }

        @Test("music, a podcast, several at once, a broken file, paused, stopped: as it was, before and after")
        func table() async throws {
            let place = await RecordedSink.start(TestSink("table"))
            let folder = place.daemon.folder
            let table = AnnouncementTable(place.follow(), place.recorder)
            let client = table.client
            let music = folder.codeWave("music.wav", from: 0, count: 44100 * 40)
            let talk = folder.codeWave("talk.wav", from: 44100 * 100, count: 44100 * 40)
            client.call("play", ["uri": .string(music)])
            await table.announce("music", ["uri": hush(folder), "duckTo": -20], .plays(0.1))
            await table.announce("music, mixed", ["uri": hush(folder), "policy": "mix"], .plays(1))
            await table.announce("music, spoken", ["uri": hush(folder), "policy": "pauseSpoken"], .plays(0.1))
            let broken = folder.write([1, 2, 3], "broken.wav")
            await table.announce("a broken file", ["uri": .string(broken)], .plays(1), refusal: "100")
            let (other, more) = (place.daemon.connect(), [hush(folder, "b.wav"), hush(folder, "c.wav")])
            await table.announce("three at once", ["uri": hush(folder), "duckTo": -20], .plays(0.1)) {
                let sent = more.map { other.send("announce", ["uri": $0, "duckTo": -20, "priority": 5]) }
                for number in sent { _ = other.answer(number) }
            }
            client.call(
                "queue.add", ["items": [["uri": .string(talk), "mediaType": "podcast"]], "play": true])
            _ = client.event("track")
            let held = ["interruption-began", "interruption-ended"]
            await table.announce(
                "podcast", ["uri": hush(folder), "policy": "pauseSpoken"], .held, events: held,
                base: 4_410_000)
            await table.announce(
                "podcast, held", ["uri": hush(folder), "policy": "pause"], .held, events: held, base: 4_410_000)
            client.call("pause")
            await table.announce("paused", ["uri": hush(folder), "policy": "pause"], .silent)
            client.call("stop")
            await table.announce("stopped", ["uri": hush(folder)], .silent)
            await table.judge()
            #expect(place.daemon.stop() == 0)
        }

        @Test("a telephone call in the middle of it")
        func telephone() async throws {
            let server = await SoundServer.pulseAudio([TestSink("sink")])
            server.control("load-module", "module-role-cork")
            let daemon = await RealDaemon.start(server)
            let recorder = await Recorder.start(server, TestSink("sink"))
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(daemon.folder.codeWave("music.wav", from: 0, count: 44100 * 40))])
            _ = client.event("play")
            let table = AnnouncementTable(client, recorder)
            let address = server.address
            let phone = await LoopThread.run {
                TestProcess([
                    "pacat", "--server=\(address)", "--raw", "--latency-msec=50", "--property=media.role=phone",
                    "--volume=0",
                    "/dev/zero",
                ])
            }
            let began = client.event("interruption-began")
            // It is heard while the call holds the music, and neither ends the other.
            #expect(
                client.call("announce", ["uri": hush(daemon.folder), "policy": "pause"])?["status"] == "success")
            #expect(client.call("nowPlaying.get")?.playing == "interrupted")
            let sent = client.send("announce", ["uri": hush(daemon.folder, "long.wav", 2), "duckTo": -20])
            phone.signal(SIGTERM)
            let ended = client.event("interruption-ended")
            #expect(ended.playing == "playing" && abs(ended.elapsed - began.elapsed) < 0.02)
            _ = client.answer(sent)
            await table.announce("after the call", ["uri": hush(daemon.folder), "duckTo": -20], .plays(0.1))
            await table.judge()
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("a daemon that is killed in the middle of it is at its place again, as loud as it was")
        func killed() async throws {
            let place = await RecordedSink.start(TestSink("killed"))
            let folder = place.daemon.folder
            var client = place.follow()
            client.call("play", ["uri": .string(folder.codeWave("music.wav", from: 0, count: 44100 * 40))])
            let play = client.event("play")
            await place.recorder.waitFor(more: 0.5)
            _ = client.send("announce", ["uri": hush(folder, "long.wav", 30), "duckTo": -20])
            await place.recorder.waitFor(more: 0.5)
            place.daemon.process.signal(SIGKILL)
            _ = place.daemon.process.wait()
            let killed = play.position(at: now())
            let again = await RealDaemon.start(place.server, sink: "killed", in: folder)
            client = again.connect()
            client.call("nowPlaying.subscribe")
            let found = try #require(client.call("nowPlaying.get"))
            #expect(found.playing == "paused" && found.elapsed <= killed && found.elapsed >= play.elapsed)
            client.call("play")
            _ = client.event("play")
            let table = AnnouncementTable(client, place.recorder)
            await table.announce("after the crash", ["uri": hush(folder), "policy": "mix"], .plays(1))
            await table.judge()
            #expect(again.stop() == 0)
        }

        @Test(
            "what is said may be in the network; what a station sends yields like music",
            .enabled(if: RealDaemon.decodesForeignFiles, "nowplaying-decode is not built"))
        func network() async throws {
            let place = await RecordedSink.start(TestSink("network"))
            let folder = place.daemon.folder
            let hush = AudioMaterial(
                sampleRate: 44100, channels: 2, bits: 16, samples: Array(repeating: 0, count: 2 * 26460)
            ).wave()
            let station = AudioMaterial(
                sampleRate: 44100, channels: 2, bits: 16,
                samples: PositionCode.int16(from: 0, count: 44100 * 20).map { Int32($0) }
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
            let table = AnnouncementTable(place.follow(), place.recorder)
            let client = table.client
            client.call("play", ["uri": .string(server.url("/station"))])
            #expect(client.event("play", "unstall").playing != "stopped")
            #expect(becomes { client.call("nowPlaying.get")?.playing == "playing" })
            await table.announce(
                "radio", ["uri": .string(server.url("/hush.wav")), "duckTo": -20], .plays(0.1), base: nil)
            await table.announce(
                "what is not there", ["uri": .string(server.url("/none.wav"))], .plays(1), refusal: "100", base: nil)
            let nobody = "http://127.0.0.1:9/a.wav"
            await table.announce("nobody there", ["uri": .string(nobody)], .plays(1), refusal: "100", base: nil)
            await table.announce(
                "radio, mixed", ["uri": self.hush(folder), "policy": "mix"], .plays(1), base: nil)
            await table.judge()
            #expect(place.daemon.stop() == 0)
        }
    }
}

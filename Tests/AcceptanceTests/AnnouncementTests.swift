import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension Acceptance {
    /// Announcements over the playback.
    @Suite(.timeLimit(.minutes(5))) struct AnnouncementTests {
        init() { LoopThread.start() }

        @Test("on a device that takes two seconds at once the answer still waits for the end")
        func deep() async throws {
            let server = await SoundServer.pulseAudio([TestSink("deep")])
            let daemon = await RealDaemon.start(server, readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(daemon.folder.silence("music.wav", seconds: 600))])
            _ = client.event("play")
            let hush = daemon.folder.silence("hush.wav", seconds: 0.8, rate: 22050, channels: 1)
            for method in ["play", "pause"] {
                client.call(method)
                let asked = now()
                #expect(client.call("announce", ["uri": .string(hush)])?["status"] == "success")
                #expect(now() - asked >= 0.79, "answered before it was heard, after \(method)")
            }
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test("the highest priority is next; what can't be played is refused; nothing of the queue is touched")
        func turns() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            func words(_ name: String, _ seconds: Double) -> JSONValue {
                .string(daemon.folder.silence(name, seconds: seconds))
            }
            client.call("queue.add", ["items": [words("music.wav", 60)], "play": true])
            let before = try #require(client.call("nowPlaying.get"))
            let numbers = [("a.wav", 0), ("b.wav", 1), ("c.wav", 7), ("d.wav", 1)].map { name, priority in
                client.send("announce", ["uri": words(name, 0.1), "priority": .integer(Int64(priority))])
            }
            var order: [Int] = []
            while order.count < numbers.count { order.append(client.nextAnswer()) }
            #expect(order == [numbers[0], numbers[2], numbers[1], numbers[3]])
            #expect(client.refusal("announce", ["uri": .string(daemon.folder.path("none.wav"))]) == "100")
            #expect(client.refusal("announce", ["uri": .string(daemon.folder.write([1, 2, 3], "x.wav"))]) == "100")
            #expect(client.refusal("announce", ["uri": .string(daemon.folder.path(""))]) == "100")
            #expect(client.refusal("announce") == "-32602")
            let answer = client.call(
                "announce", ["descriptor": 0], files: [daemon.folder.silence("e.wav", seconds: 0.1)])
            #expect(answer?["status"] == "success")
            let after = try #require(client.call("nowPlaying.get"))
            #expect(
                after["seq"] == before["seq"] && after["queue"] == before["queue"] && after["item"] == before["item"])
            #expect(daemon.stop() == 0)
        }

        @Test("a longer one is cut off; podcasts are held and music is not") func settings() async throws {
            let folder = TemporaryFolder()
            let file = folder.path("settings.conf")
            let settings =
                "[announcements]\nlimit = 1\npolicy = pause-spoken\n[playback]\nspeech-folders = \(folder.path)/talk\n"
            _ = folder.write(Array(settings.utf8), "settings.conf")
            mkdir(folder.path("talk"), 0o700)
            let daemon = await RealDaemon.start(
                nil, output: "null", in: folder, readsTitles: false, ["--config", file])
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(folder.silence("music.wav", seconds: 60))])
            let long = folder.silence("long.wav", seconds: 600)
            #expect(
                client.call("announce", ["uri": .string(long)]) == ["status": "success", "seconds": 1, "cut": true])
            #expect(client.events() == ["play"])
            client.call("play", ["uri": .string(folder.silence("talk/talk.wav", seconds: 60))])
            let short = folder.silence("short.wav", seconds: 0.1)
            #expect(client.call("announce", ["uri": .string(short)])?["status"] == "success")
            _ = client.event("interruption-began")
            // A pause meanwhile lasts.
            let number = client.send("announce", ["uri": .string(short)])
            _ = client.event("interruption-began")
            client.call("pause")
            _ = client.answer(number)
            #expect(client.event("interruption-ended").playing == "paused")
            #expect(daemon.stop() == 0)
        }

        @Test("without a sound server it is refused at once, and not heard later") func nobodyHears() async throws {
            let daemon = await RealDaemon.start(nil, readsTitles: false, ["--config", "/dev/null"])
            let client = daemon.connect()
            let file = daemon.folder.silence("a.wav", seconds: 1)
            #expect(client.refusal("announce", ["uri": .string(file)]) == "120")
            #expect(client.refusal("announce", ["uri": .string(file)]) == "120")
            #expect(daemon.stop() == 0)
        }
    }
}

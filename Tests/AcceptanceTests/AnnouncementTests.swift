import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension Acceptance {
    /// Something said over what plays.
    @Suite(.timeLimit(.minutes(2))) struct AnnouncementTests {
        init() { LoopThread.start() }

        /// How much louder or quieter recorded samples are than those of the code from this frame on.
        private func level(_ samples: ArraySlice<Int16>, of frame: Int) -> Double {
            let code = PositionCode.int16(from: frame, count: samples.count / 2)
            var (product, square) = (0.0, 0.0)
            for (a, b) in zip(samples, code) {
                product += Double(a) * Double(b)
                square += Double(b) * Double(b)
            }
            return product / square
        }

        @Test("music gets quiet and is as it was, or is held; its clock tells the truth; and the announcement is whole")
        func recorded() async throws {
            let place = await RecordedSink.start(TestSink("announce"))
            let (folder, recorder) = (place.daemon.folder, place.recorder)
            let music = folder.codeWave("music.wav", from: 0, count: 44100 * 60)
            let client = place.follow()
            // Over nothing: bit for bit, and nobody is told.
            let first = folder.codeWave("first.wav", from: 5_000_000, count: 20_000)
            let asked = now()
            let alone = try #require(client.call("announce", ["uri": .string(first), "volume": 1]))
            #expect(alone["status"] == "success")
            #expect(abs((alone["seconds"]?.doubleValue ?? 0) - 20_000 / 44100.0) < 1e-8)
            #expect(now() - asked > 20_000 / 44100.0, "the answer comes when it was heard")
            #expect(client.events() == [])
            // Music, and a silence said over it: what is recorded is the music alone.
            client.call("play", ["uri": .string(music)])
            let play = client.event("play")
            await recorder.waitFor(more: 0.5)
            let hush = folder.silence("hush.wav", seconds: 0.8, rate: 44100, channels: 2)
            let begin = now()
            #expect(client.call("announce", ["uri": .string(hush), "duckTo": -20])?["status"] == "success")
            let end = now()
            await recorder.waitFor(more: 1)
            #expect(client.events().allSatisfy { $0 == "drift" })
            // Held for another one.
            let second = folder.codeWave("second.wav", from: 9_000_000, count: 20_000)
            #expect(client.call("announce", ["uri": .string(second), "policy": "pause", "volume": 1]) != nil)
            let held = client.event("interruption-began")
            #expect(held.playing == "interrupted" && held.rate == 0 && held["interruption"]?["by"] == "announcement")
            let goesOn = client.event("interruption-ended")
            #expect(goesOn.playing == "playing" && abs(goesOn.elapsed - held.elapsed) < 0.005)
            await recorder.waitFor(more: 0.4)
            recorder.stop()
            let samples = int16Samples(recorder.bytes())
            let numbers = PositionCode.decode(samples)
            let runs = PositionCode.runs(samples)
            for start in [5_000_000, 9_000_000] {
                let whole = runs.filter { $0.frame >= start && $0.frame < start + 20_000 }
                #expect(whole.reduce(0) { $0 + $1.count } > 18_000)
                guard environmentHas("NOWPLAYING_NIGHTLY") else { continue }
                #expect(whole.count == 1 && whole.first?.frame == start && whole.first?.count == 20_000)
            }
            // Every frame of the music once and in its order, from the first to where it was held, and on from there.
            let heard = numbers.indices.filter { numbers[$0] >= 0 && numbers[$0] < 5_000_000 }
            let holdStart = try #require(numbers.firstIndex { (9_000_000..<9_020_000).contains($0) })
            let (before, after) = (heard.filter { $0 < holdStart }, heard.filter { $0 > holdStart })
            // A machine with other things to do loses some of the recording; what is there is in its order, each once.
            let steps = zip(before.dropFirst(), before).map { numbers[$0] - numbers[$1] }
            #expect(steps.allSatisfy { $0 > 0 }, "a frame was doubled")
            if environmentHas("NOWPLAYING_NIGHTLY") {
                let origin = try #require(before.first)
                #expect(before.allSatisfy { numbers[$0] == $0 - origin }, "a frame was lost or late")
            }
            let (last, next) = (try #require(before.last), try #require(after.first))
            #expect(numbers[next] - numbers[last] < 500, "it goes on where it was held")
            #expect(abs(Double(numbers[next]) / 44100 - held.elapsed) < 0.005, "and that is what its clock said")
            // Full, a tenth, full again: to the bit.
            func frame(_ time: Double) -> Int { Int((play.position(at: time) * 44100).rounded()) }
            func level(_ time: Double) throws -> Double {
                let wanted = frame(time)
                let found = try #require(
                    before.first { numbers[$0] >= wanted && numbers[$0 + 1900] == numbers[$0] + 1900 })
                return self.level(samples[(2 * found)..<(2 * (found + 1900))], of: numbers[found])
            }
            #expect(try level(begin - 0.2) == 1)
            #expect(try abs(level((begin + end) / 2) - 0.1) < 0.002)
            #expect(try level(end + 0.75) == 1)
            #expect(place.daemon.stop() == 0)
        }

        @Test("on a device that takes two seconds at once the answer still waits for the end")
        func deep() async throws {
            let server = await SoundServer.pulseAudio([TestSink("deep")])
            let daemon = await RealDaemon.start(server)
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
            let daemon = await RealDaemon.silent()
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
                "[announcements]\nlimit = 1\npolicy = pauseSpoken\n[playback]\nspeech-folders = \(folder.path)/talk\n"
            _ = folder.write(Array(settings.utf8), "settings.conf")
            mkdir(folder.path("talk"), 0o700)
            let daemon = await RealDaemon.start(nil, output: "null", in: folder, ["--config", file])
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
            // Who pauses meanwhile stays paused.
            let number = client.send("announce", ["uri": .string(short)])
            _ = client.event("interruption-began")
            client.call("pause")
            _ = client.answer(number)
            #expect(client.event("interruption-ended").playing == "paused")
            #expect(daemon.stop() == 0)
        }

        @Test("without a sound server it is refused at once, and not heard later") func nobodyHears() async throws {
            let daemon = await RealDaemon.start(nil, ["--config", "/dev/null"])
            let client = daemon.connect()
            let file = daemon.folder.silence("a.wav", seconds: 1)
            #expect(client.refusal("announce", ["uri": .string(file)]) == "120")
            #expect(client.refusal("announce", ["uri": .string(file)]) == "120")
            #expect(daemon.stop() == 0)
        }
    }
}

import ControlProtocol
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// Play that ends by itself, into a file and into nothing at the pace of a device.
    @Suite(.timeLimit(.minutes(5))) struct SleepTests {
        init() { LoopThread.start() }

        @Test("after a time it stops, keeps its place, and is as loud as before when it goes on")
        func after() async throws {
            let daemon = await RealDaemon.silent()
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("play", ["uri": .string(daemon.folder.silence("a.wav", seconds: 60)), "position": 10])
            let answer = client.call("sleep.set", ["after": 0.6, "fade": 0.3])
            #expect(answer?["sleep"]?["fade"] == .number(0.3))
            let set = client.event("sleep")
            let ends = try #require(set["sleep"]?["endsMonotonic"]?.doubleValue)
            #expect(ends > now() && ends < now() + 0.6)
            let stop = client.event("stop")
            #expect(stop.words == "stop sleep" && stop.playing == "stopped" && stop["sleep"] == .null)
            #expect(stop.elapsed > 10.4 && stop.monotonic >= ends)
            let asked = now()
            let on = try #require(client.call("play"))
            #expect(on.goesOn(from: stop.elapsed, after: asked), "\(on.elapsed) \(stop.elapsed)")
            #expect(daemon.stop() == 0)
        }

        @Test("at the end of the item it stops before the next one, which is where play goes on")
        func endOfItem() async throws {
            let daemon = await RealDaemon.silent()
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("queue.add", ["items": daemon.silences(1, 30)])
            client.call("play")
            #expect(client.call("sleep.set", ["endOf": "item"])?["sleep"]?["endOf"] == "item")
            let set = client.event("sleep")
            #expect(set["upcoming"] == .null)
            let stop = client.event("stop", "track")
            #expect(stop.words == "stop sleep" && stop["queue"]?["index"] == 1 && stop.elapsed == 0)
            #expect(client.call("play")?.playing == "playing")
            #expect(client.call("nowPlaying.get")?["queue"]?["index"] == 1)
            #expect(daemon.stop() == 0)
        }

        @Test("it can be taken back, and a command while it grows quiet does so, too")
        func cancelled() async throws {
            let daemon = await RealDaemon.silent()
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("queue.add", ["items": daemon.silences(1, 30)])
            client.call("play")
            client.call("sleep.set", ["endOf": "item"])
            client.call("sleep.set", ["after": 0])
            #expect(client.call("nowPlaying.get")?["sleep"] == .null)
            #expect(client.call("nowPlaying.get")?["upcoming"]?["itemId"] == 2)
            #expect(client.event("track").words == "track ended")
            client.call("sleep.set", ["after": 20, "fade": 19.999])
            await LoopThread.wait(seconds: 0.1)
            #expect(client.call("play")?.playing == "playing")
            #expect(client.call("nowPlaying.get")?["sleep"] == .null)
            client.call("sleep.set", ["after": 20])
            client.call("stop")
            #expect(client.call("nowPlaying.get")?["sleep"] == .null)
            #expect(client.refusal("sleep.set", ["after": 1, "endOf": "item"]) == "-32602")
            #expect(client.refusal("sleep.set", ["after": -1]) == "-32602")
            #expect(daemon.stop() == 0)
        }

        @Test("the fade goes evenly to silence, in our own samples", .enabled(if: environmentHas("NOWPLAYING_NIGHTLY")))
        func fade() async throws {
            let place = await RecordedSink.start(TestSink("sleep"))
            let loud = AudioMaterial(
                sampleRate: 44100, channels: 2, bits: 16, samples: Array(repeating: 20000, count: 44100 * 40))
            let client = place.follow()
            client.call("play", ["uri": .string(place.daemon.folder.write(loud.wave(), "loud.wav"))])
            await place.recorder.waitFor(more: 0.3)
            client.call("sleep.set", ["after": 1.5, "fade": 1])
            #expect(client.event("stop").words == "stop sleep")
            client.call("play")
            await place.recorder.waitFor(more: 0.5)
            client.call("stop")
            await place.recorder.waitFor(more: 0.3)
            place.recorder.stop()
            let samples = int16Samples(place.recorder.bytes()).drop { $0 == 0 }
            let begin = try #require(samples.firstIndex { $0 < 19_900 })
            let half = try #require(samples[begin...].firstIndex { $0 <= 10_000 })
            let end = try #require(samples[half...].firstIndex { $0 == 0 })
            #expect(abs(half - begin - 44100) < 2000, "half of it in half a second: \(half - begin)")
            #expect(end - begin > 2 * 42_000 && samples[(end - 200)..<end].allSatisfy { $0 < 500 })
            #expect(samples[end...].filter { $0 == 20000 }.count > 30_000, "as loud as before")
            #expect(place.daemon.stop() == 0)
        }
    }
}

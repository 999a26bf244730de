import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension Acceptance {
    /// Rates other than 1: the position of their start, and the clock during them.
    @Suite(.timeLimit(.minutes(5))) struct RateTests {
        private static func marks(_ folder: TemporaryFolder, _ name: String) -> JSONValue {
            let samples = ToneMarks.samples(seconds: 30).map { Int32($0) }
            return .string(
                folder.write(AudioMaterial(sampleRate: 44100, channels: 2, bits: 16, samples: samples).wave(), name))
        }

        @Test(
            "the clock is true through a seek and a boundary",
            arguments: environmentHas("NOWPLAYING_NIGHTLY") ? [1.5, 0.75, 0.5, 2, 3] : [1.5])
        func clock(rate: Double) async throws {
            let place = await RecordedSink.start(TestSink("rate"))
            let folder = place.daemon.folder
            let client = place.follow()
            client.call("queue.add", ["items": [Self.marks(folder, "a"), Self.marks(folder, "b")], "play": true])
            await place.recorder.waitFor(more: 1)
            let begin = place.waits()
            let asked = now()
            #expect(client.call("changePlaybackRate", ["rate": .number(rate)])?.rate == rate)
            let took = now() - asked
            // 4 s, a seek to 4.5 s before the end, and over it.
            await place.recorder.waitFor(more: 4)
            client.call("changePlaybackPosition", ["position": 25.5])
            await place.recorder.waitFor(more: 4.5 / rate + 3)
            client.call("pause")
            client.call("play")
            await place.recorder.waitFor(more: 1.5)
            client.call("stop")
            place.recorder.stop()
            client.call("nowPlaying.get")
            let states = client.notifications
            #expect(states.map(\.words).contains("rate"))
            #expect(states.last { $0.playing == "playing" }?.rate == 1, "play returns to the item's own rate")
            let changes = ToneMarks.changes(int16Samples(place.recorder.bytes()))
            // In milliseconds of the item, at this rate and at 1.
            var found: [(time: Double, error: Double)] = []
            var usual: [(time: Double, error: Double)] = []
            for change in changes {
                let time = place.time(Int(change))
                guard let state = states.last(where: { $0.monotonic <= time }) else { continue }
                // A jump is a change of tones that means nothing.
                if states.contains(where: { abs($0.monotonic - time) < 0.05 }) { continue }
                let position = state.position(at: time) * 10
                if state.rate == rate { found.append((time, (position - position.rounded()) * 100)) }
                if state.rate == 1 { usual.append((time, (position - position.rounded()) * 100)) }
            }
            // The errors of the recorder and of the search for changes at rate 1, before and after. The clocks of null sink
            // and recorder drift by a millisecond or two meanwhile, which a rate of 3 would show threefold.
            let middle = found.map(\.time).reduce(0, +) / Double(max(1, found.count))
            let before = mean(usual.filter { $0.time < middle })
            let after = mean(usual.filter { $0.time > middle })
            try #require(found.count > 60 && before.count > 5 && after.count > 5)
            let errors = found.map { place in
                let share = (place.time - before.time) / (after.time - before.time)
                return place.error - (before.error + (after.error - before.error) * share) * rate
            }
            let worst = errors.map(abs).max() ?? 99
            let waited = place.waits().seconds(since: begin) * 1000
            #expect(worst < 30 + waited, "worst \(worst) ms, waited \(waited) ms")
            let average = errors.reduce(0, +) / Double(errors.count)
            #expect(abs(average) < 2 + waited, "mean \(average) ms of \(errors.count), waited \(waited) ms")
            if environmentHas("NOWPLAYING_FIGURES") {
                print("rate \(rate): worst \(worst) ms, mean \(average) ms, change \(took * 1000) ms")
                print("recorder \(before.error) to \(after.error) ms")
            }
        }

        private func mean(
            _ places: [(time: Double, error: Double)]
        ) -> (time: Double, error: Double, count: Int) {
            let count = Double(max(1, places.count))
            return (
                places.map(\.time).reduce(0, +) / count, places.map(\.error).reduce(0, +) / count, places.count
            )
        }

        @Test("back at 1 every sample is as it was, from an exact frame on") func exact() async throws {
            let place = await RecordedSink.start(TestSink("rateone"))
            let file = place.daemon.folder.codeFLAC("a.flac", from: 0, count: 44100 * 60)
            let client = place.follow()
            client.call("play", ["uri": .string(file)])
            await place.recorder.heard(frame: 22050)
            #expect(client.call("changePlaybackRate", ["rate": 2])?.rate == 2)
            #expect(client.call("nowPlaying.get")?["output"]?["bitPerfect"]?["reason"] == "rate")
            await place.recorder.waitFor(more: 1)
            #expect(client.call("changePlaybackRate", ["rate": 1])?.rate == 1)
            await place.recorder.waitFor(more: 1)
            let runs = await place.runs().filter { $0.count > 4410 }
            #expect(client.call("nowPlaying.get")?["output"]?["bitPerfect"]?["value"] == true)
            #expect(runs.count == 2, "before and after: \(runs)")
            guard let last = runs.last, runs.count == 2 else { return }
            _ = client.event("rate")
            let second = client.event("rate")
            let published = second.position(at: place.time(last.recorded + last.count / 2))
            #expect(
                abs(published - Double(last.frame + last.count / 2) / 44100) < 0.015, "but for the recorder's delay")
        }

        @Test("what an item's own rate is, and which rates there are") func own() async {
            let folder = TemporaryFolder()
            let configuration = folder.write(
                Array("[playback]\nspeech-rate = 1.25\nspeech-folders = \(folder.path("talk"))\n".utf8), "conf")
            let daemon = await RealDaemon.silent(["--config", configuration])
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            mkdir(folder.path("talk"), 0o755)
            let inFolder = folder.silence("talk/a.wav", seconds: 30)
            let given: JSONValue = ["uri": .string(folder.silence("b.wav", seconds: 30)), "defaultRate": 2]
            let music = folder.silence("c.wav", seconds: 30)
            client.call("queue.add", ["items": [.string(inFolder), given, .string(music)], "play": true])
            #expect(client.event("play").rate == 1.25)
            client.call("nextTrack")
            #expect(client.event("track").rate == 2)
            client.call("nextTrack")
            #expect(client.event("track").rate == 1)
            #expect(client.refusal("changePlaybackRate", ["rate": 1.1]) == "200 outOfRange")
            #expect(client.refusal("changePlaybackRate", ["rate": 0]) == "-32602")
            client.call("commands.configure", ["command": "changePlaybackRate", "supportedPlaybackRates": [1, 1.1]])
            #expect(client.call("changePlaybackRate", ["rate": 1.1])?.rate == 1.1)
            // It holds over the boundary of items until the next play.
            client.call("previousTrack")
            #expect(client.event("track").rate == 1.1)
            client.call("pause")
            #expect(client.event("pause")["anchor"]?["defaultRate"]?.doubleValue == 2)
            client.call("play")
            #expect(client.event("play").rate == 2)
        }
    }
}

import ControlProtocol
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// Places that are asked for while nothing sounds, and the volume; recorded.
    @Suite(.timeLimit(.minutes(5))) struct SilentSeekTests {
        @Test("what is asked for while paused or stopped begins with exactly that frame")
        func silentSeeks() async throws {
            let place = await RecordedSink.start(TestSink("places"))
            let file = place.daemon.folder.codeFLAC("long.flac", from: 0, count: 44100 * 30)
            let client = place.follow()
            client.call("play", ["uri": .string(file)])
            await place.recorder.waitFor(more: 0.3)
            client.call("pause")
            var targets = [0]
            for frame in [44100 * 20, 44100 * 5 + 1, 12345] {
                let target = JSONValue.number(Double(frame) / 44100)
                let answer = try #require(client.call("changePlaybackPosition", ["position": target]))
                #expect(answer.playing == "paused" && answer.rate == 0)
                #expect(abs(answer.elapsed - Double(frame) / 44100) < 0.000_001)
                client.call("play")
                await place.recorder.waitFor(more: 0.3)
                client.call("pause")
                targets.append(frame)
            }
            client.call("stop")
            client.call("changePlaybackPosition", ["position": 10])
            client.call("play")
            await place.recorder.waitFor(more: 0.3)
            client.call("stop")
            client.call("play")
            await place.recorder.waitFor(more: 0.3)
            client.call("stop")
            targets += [441_000, 0]
            let runs = await place.runs()
            #expect(runs.map(\.frame) == targets, "\(runs)")
            #expect(place.daemon.stop() == 0)
        }

        @Test("the volume is the server's, on its cubic scale")
        func volume() async throws {
            let place = await RecordedSink.start(TestSink("volume"))
            let loud = AudioMaterial(
                sampleRate: 44100, channels: 2, bits: 16, samples: Array(repeating: 20000, count: 44100 * 20))
            let file = place.daemon.folder.write(loud.wave(), "loud.wav")
            let client = place.follow()
            client.call("volume.set", ["volume": 0.5])
            client.call("play", ["uri": .string(file)])
            await place.recorder.waitFor(more: 0.5)
            client.call("volume.set", ["volume": 1])
            await place.recorder.waitFor(more: 0.7)
            client.call("volume.set", ["muted": true])
            await place.recorder.waitFor(more: 0.8)
            let muted = place.recorder.bytes().count / 2
            client.call("stop")
            await place.recorder.waitFor(more: 0.3)
            place.recorder.stop()
            let samples = int16Samples(place.recorder.bytes())
            // 20000 × 0.5³, and the whole.
            for level in [2500, 20000] as [Int16] {
                #expect(samples.filter { abs($0 - level) <= 2 }.count > 20000, "\(level)")
            }
            #expect(samples[(muted - 22050)..<muted].allSatisfy { $0 == 0 }, "muted is silent")
        }
    }
}

import ControlProtocol
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// The main path on PipeWire, where everything is exact to one quantum.
    @Suite(.timeLimit(.minutes(5))) struct PipeWireTests {
        /// Frames of a quantum of PipeWire, unless a client requests fewer.
        static let quantum = 2048

        @Test("play, pause, resume, seek, the next item, the end with its tail, and an announcement")
        func mainPath() async throws {
            LoopThread.start()
            let server = await SoundServer.pipeWire(sink: "sink")
            let daemon = await RealDaemon.start(server)
            let recorder = await Recorder.start(server, TestSink("sink", rate: 48000))
            let folder = daemon.folder
            let first = folder.codeWave("first.wav", from: 0, count: 48000 * 20, rate: 48000)
            let second = folder.codeWave("second.wav", from: 48000 * 20, count: 40011, rate: 48000)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("queue.add", ["items": [.string(first), .string(second)], "play": true])
            #expect(client.event("play").playing == "playing")
            await recorder.waitFor(more: 1)
            let pause = try #require(client.call("pause"))
            await recorder.waitFor(more: 0.5)
            #expect(client.call("play")?.playing == "playing")
            await recorder.waitFor(more: 1)
            let seek = try #require(client.call("changePlaybackPosition", ["position": 18.5]))
            #expect(abs(seek.elapsed - 18.5) < 0.1)
            let track = client.event("track")
            #expect(track.words == "track ended")
            #expect(client.event("stop").words == "stop ended")
            await recorder.waitFor(more: 0.5)
            let runs = PositionCode.joined(await recorder.runs())
            try #require(runs.count == 3, "\(runs)")
            #expect(runs[0].frame == 0)
            // Nothing is lost or repeated at the pause, which published its position.
            #expect(runs[1].frame == runs[0].count)
            let quantum = Double(Self.quantum)
            #expect(abs(Double(runs[0].count) - pause.elapsed * 48000) <= quantum, "\(runs) \(pause.elapsed)")
            #expect(abs(Double(runs[2].frame) - 888_000) <= quantum, "\(runs)")
            // The next item follows without a gap, and the tail is heard to its last frame.
            #expect(runs[2].frame + runs[2].count == 48000 * 20 + 40011, "\(runs)")
            // Over music, which gets quiet and is to the bit as it was.
            client.call("play", ["index": 0])
            _ = client.event("play")
            // The server reports the position of its last quantum, as of now: two readings differ by up to one.
            let table = AnnouncementTable(client, recorder, rate: 48000, noise: 0.06, step: quantum / 48000) {
                server.waits(and: [daemon.process.pid])
            }
            let hush = JSONValue.string(folder.silence("hush.wav", seconds: 0.6, rate: 48000, channels: 2))
            await table.announce(
                "on PipeWire", AnnouncementTable.Words(uri: hush, seconds: 0.6), .plays(0.1), by: ["duckTo": -20])
            await table.judge()
            #expect(daemon.stop() == 0)
            server.stop()
        }

        @Test(
            "a change of format hands over within a quantum",
            .enabled(if: environmentHas("NOWPLAYING_NIGHTLY")))
        func otherFormat() async throws {
            LoopThread.start()
            let server = await SoundServer.pipeWire(sink: "sink")
            let daemon = await RealDaemon.start(server)
            let recorder = await Recorder.start(server, TestSink("sink", rate: 48000))
            let folder = daemon.folder
            let constant = AudioMaterial(
                sampleRate: 48000, channels: 1, bits: 24, samples: Array(repeating: 3_000_000, count: 48000))
            let files = [
                folder.codeWave("0.wav", from: 0, count: 96000, rate: 48000), folder.write(constant.wave(), "1.wav"),
                folder.codeWave("2.wav", from: 5_000_000, count: 48000, rate: 48000),
            ]
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("queue.add", ["items": .array(files.map(JSONValue.string)), "play": true])
            for words in ["track ended", "track ended", "stop ended"] {
                #expect(client.event("track", "stop").words == words)
            }
            await recorder.waitFor(more: 0.5)
            recorder.stop()
            let runs = PositionCode.joined(await recorder.runs())
            let samples = int16Samples(recorder.bytes())
            let first = try #require(runs.first)
            let last = try #require(runs.last { $0.frame >= 5_000_000 })
            let middle = samples[2 * (first.recorded + first.count)..<2 * last.recorded]
            let leading = middle.prefix { abs($0) < 100 }.count / 2
            let trailing = middle.reversed().prefix { abs($0) < 100 }.count / 2
            let total = middle.count / 2 - leading - trailing
            if environmentHas("NOWPLAYING_FIGURES") {
                print("hand-over: silence of \(leading) and \(trailing) frames, \(total) between; \(runs)")
            }
            #expect(leading <= Self.quantum && trailing <= Self.quantum, "silence of \(leading) and \(trailing) frames")
            // A missing one of the three was heard together with another.
            let missing = 96000 - first.count + 48000 - total + 5_048_000 - last.frame - last.count
            #expect(missing <= 2 * Self.quantum && total <= 48000 + 300, "\(runs), \(total)")
            #expect(daemon.stop() == 0)
            server.stop()
        }
    }
}

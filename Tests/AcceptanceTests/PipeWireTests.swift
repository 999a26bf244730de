import ControlProtocol
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// The main path on PipeWire, where everything is exact to one quantum.
    @Suite(.timeLimit(.minutes(2))) struct PipeWireTests {
        @Test("play, pause, resume, seek, the next item, and the end with its tail")
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
            recorder.stop()
            let runs = PositionCode.joined(await recorder.runs())
            try #require(runs.count == 3, "\(runs)")
            #expect(runs[0].frame == 0)
            // Nothing is lost or heard twice at the pause, which told where it is.
            #expect(runs[1].frame == runs[0].count)
            #expect(abs(Double(runs[0].count) - pause.elapsed * 48000) <= 1024, "\(runs) \(pause.elapsed)")
            #expect(abs(runs[2].frame - 888_000) <= 1024, "\(runs)")
            // The next item follows without a gap, and the tail is heard to its last frame.
            #expect(runs[2].frame + runs[2].count == 48000 * 20 + 40011, "\(runs)")
            #expect(daemon.stop() == 0)
            server.stop()
        }
    }
}

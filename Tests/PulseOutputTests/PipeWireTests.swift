import AudioCore
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PulseOutput

/// The main path on PipeWire's server, where everything is exact to one quantum and nothing can be taken back.
@Suite(.serialized, .oneAtATime, .timeLimit(.minutes(5))) struct PipeWireTests {
    init() { LoopThread.start() }

    @Test("plays, pauses, rewrites, drains to the last frame")
    @PlayerLoop func mainPath() async throws {
        let server = await SoundServer.pipeWire(sink: "sink")
        let sink = TestSink("sink", format: "s16le", rate: 48000)
        let format = AudioFormat(sampleFormat: .int16, sampleRate: 48000, channelCount: 2)
        let recorder = await Recorder.start(server, sink)
        let log = OutputLog()
        let output = PulseOutput(EventLoop.current, server: server.address)
        output.delegate = log
        output.connect()
        await log.next(.connection(nil))
        #expect(output.serverName?.contains("PipeWire") == true)
        let stream = output.openStream(format, delegate: log)
        await log.next(.ready)
        #expect(!stream.canRewind)
        #expect(stream.refillFrames >= 48000)
        let new = PositionCode.int16(from: 1_000_000, count: 50_003)
        stream.write(PositionCode.int16(from: 0, count: 200_000))
        #expect(await stream.corked(false) == nil)
        await log.next(.started)
        await recorder.waitFor(more: 0.7)
        #expect(await stream.corked(true) == nil)
        await recorder.waitFor(more: 0.5)
        let paused = try await stream.timing()
        #expect(!paused.isPlaying)
        #expect(await stream.corked(false) == nil)
        await log.next(.started)
        await recorder.waitFor(more: 0.5)
        let before = try await stream.timing()
        #expect(before.isPlaying && before.latency < 1)
        let frame = before.takenFrame + 9600
        stream.write(new, at: frame)
        #expect(await stream.drained() == nil)
        await recorder.waitFor(more: 0.5)
        #expect(!stream.canRewind)
        #expect(log.events.allSatisfy { if case .volume(let volume, _) = $0 { volume == 1 } else { true } })
        stream.close()
        output.disconnect()
        recorder.stop()
        let runs = PositionCode.joined(await recorder.runs())
        try #require(runs.count == 3, "\(runs)")
        #expect(runs[0].frame == 0 && runs[0].count == Int(paused.takenFrame))
        #expect(runs[1].frame == Int(paused.takenFrame) && runs[1].frame + runs[1].count == Int(frame))
        #expect(runs[2].recorded == runs[1].recorded + runs[1].count)
        #expect(runs[2].frame == 1_000_000 && runs[2].count == 50_003)
        server.stop()
    }
}

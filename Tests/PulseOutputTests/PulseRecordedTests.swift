import AudioCore
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PulseOutput

/// Audible frames in a recording of the sink.
@Suite(.serialized, .oneAtATime, .timeLimit(.minutes(5))) struct PulseRecordedTests {
    let server: SoundServer

    init() async {
        LoopThread.start()
        server = await SharedServer.pulseAudio.value
    }

    /// A stream on a sink of its own, with a recorder running.
    @PlayerLoop private final class Scene {
        let log = OutputLog()
        let recorder: Recorder
        let output: PulseOutput
        let stream: any AudioStream
        private let server: SoundServer
        private let module: String

        init(_ server: SoundServer, _ sink: TestSink) async {
            self.server = server
            module = server.load(sink)
            recorder = await Recorder.start(server, sink, latency: sink.rewinds ? 2000 : nil)
            output = PulseOutput(EventLoop.current, server: server.address, sinkName: sink.name)
            output.delegate = log
            output.connect()
            await log.next(.connection(nil))
            stream = output.openStream(.compactDisc, delegate: log)
            await log.next(.ready)
            // On a busy machine it is reported before the stream is ready.
            await log.knows { if case .device = $0 { true } else { false } }
        }

        func end() {
            stream.close()
            output.disconnect()
            recorder.stop()
            server.control("unload-module", module)
        }
    }

    @Test("pauses lose and repeat nothing, and the position while paused is where sound goes on")
    @PlayerLoop func pauses() async throws {
        let scene = await Scene(server, TestSink("pauses"))
        let stream = scene.stream
        #expect(!stream.canRewind)
        stream.write(PositionCode.int16(from: 0, count: 200_000))
        var pausedAt: [Int] = []
        for pause in 1...6 {
            #expect(await stream.corked(false) == nil)
            await scene.recorder.heard(frame: pause * 9000)
            #expect(await stream.corked(true) == nil)
            let timing = try await stream.timing()
            #expect(!timing.isPlaying)
            #expect(timing.audibleFrame == Double(timing.takenFrame))
            pausedAt.append(Int(timing.takenFrame))
            // Frames that the device had taken are still on their way.
            await scene.recorder.waitFor(more: 0.2)
        }
        let runs = await scene.recorder.runs()
        #expect(runs.map { $0.frame + $0.count } == pausedAt)
        #expect(runs.map(\.frame) == [0] + pausedAt.dropLast())
        scene.end()
    }

    @Test("a rewrite replaces what the device took ahead")
    @PlayerLoop func rewrite() async throws {
        let scene = await Scene(server, TestSink("rewrite", rewinds: true))
        let stream = scene.stream
        #expect(stream.canRewind)
        stream.write(PositionCode.int16(from: 0, count: 300_000))
        let new = PositionCode.int16(from: 1_000_000, count: 100_000)
        #expect(await stream.corked(false) == nil)
        await scene.log.next(.started)
        // The instant is in the middle of the frames that the device took ahead.
        await LoopThread.wait(seconds: 1)
        let before = try await stream.timing()
        #expect(before.isPlaying && before.takenFrame > Int64(before.audibleFrame))
        let frame = Int64(before.audibleFrame) + 4410
        #expect(frame < before.takenFrame)
        let kept = stream.writeKept(new, at: frame)
        // Frames that the device had taken were taken back.
        let after = try await stream.timing()
        #expect(after.takenFrame < before.takenFrame || after.audibleFrame > Double(frame))
        await scene.recorder.heard(frame: 1_030_000)
        #expect(kept() == nil)
        // On a busy machine the server renders anew between two blocks of the write, and a recording keeps a block of the
        // rewound audio: the new audio then begins later, but the old audio ends before it.
        let runs = await scene.recorder.runs()
        let old = runs.filter { $0.frame < 1_000_000 }
        #expect(old.allSatisfy { $0.frame + $0.count <= Int(frame) + 8184 })
        #expect(runs.last.map { $0.frame >= 1_000_000 && $0.frame + $0.count > 1_030_000 } == true)
        scene.end()
    }

    @Test("a rewrite of what the device has not taken joins to the frame")
    @PlayerLoop func rewriteAhead() async throws {
        let scene = await Scene(server, TestSink("rewrite-ahead"))
        let stream = scene.stream
        stream.write(PositionCode.int16(from: 0, count: 300_000))
        #expect(await stream.corked(false) == nil)
        await scene.recorder.heard(frame: 20_000)
        // A tenth of a second: more than the message needs on a busy machine.
        let frame = try await stream.timing().takenFrame + 4410
        stream.write(PositionCode.int16(from: 1_000_000, count: 100_000), at: frame)
        await scene.recorder.heard(frame: 1_030_000)
        let runs = await scene.recorder.runs()
        let old = try #require(runs.first)
        let new = try #require(runs.dropFirst().first)
        #expect(old.frame == 0 && old.count == Int(frame))
        #expect(new.frame == 1_000_000)
        #expect(new.recorded == old.recorded + old.count)
        scene.end()
    }

    @Test("readings of the time agree with the recording")
    @PlayerLoop func timing() async throws {
        let scene = await Scene(server, TestSink("timing"))
        let stream = scene.stream
        stream.write(PositionCode.int16(from: 0, count: 300_000))
        #expect(await stream.corked(false) == nil)
        await scene.recorder.heard(frame: 20_000)
        var readings: [StreamTiming] = []
        // More in a row than libpulse remembers corrections for.
        for _ in 0..<100 { readings.append(try await stream.timing()) }
        await scene.recorder.heard(frame: 80_000)
        for _ in 0..<5 {
            readings.append(try await stream.timing())
            await scene.recorder.waitFor(more: 0.1)
        }
        let run = try #require(await scene.recorder.runs().first)
        #expect(run.frame == 0)
        for reading in readings {
            #expect(reading.isPlaying && reading.roundTrip > 0)
            let recorded = scene.recorder.time(ofFrame: run.recorded)
            let heard = recorded.advanced(bySeconds: reading.audibleFrame / 44100)
            // The sink is 50 ms deep and the recorder hears it as it is filled.
            #expect(abs(reading.time.seconds(since: heard)) < 0.1)
        }
        let order = zip(readings, readings.dropFirst())
        #expect(order.allSatisfy { $0.audibleFrame <= $1.audibleFrame && $0.time <= $1.time })
        scene.end()
    }

    @Test("an underrun stops the position at what was written, and the stream goes on when it is filled")
    @PlayerLoop func underrun() async throws {
        let scene = await Scene(server, TestSink("underrun"))
        let stream = scene.stream
        stream.write(PositionCode.int16(from: 0, count: 30_000))
        #expect(await stream.corked(false) == nil)
        await scene.log.next(.started)
        await scene.log.next(.underflow)
        await scene.recorder.heard(frame: 29_900)
        await scene.recorder.waitFor(more: 0.2)
        let starved = try await stream.timing()
        #expect(!starved.isPlaying && starved.takenFrame == 30_000 && starved.audibleFrame == 30_000)
        #expect(await stream.corked(true) == nil)
        stream.write(PositionCode.int16(from: 30_000, count: 60_000))
        #expect(await stream.corked(false) == nil)
        await scene.log.next(.started)
        await scene.recorder.heard(frame: 60_000)
        let runs = await scene.recorder.runs()
        #expect(runs.count == 2)
        #expect(runs[0].count == 30_000 && runs[1].frame == 30_000)
        scene.end()
    }
}

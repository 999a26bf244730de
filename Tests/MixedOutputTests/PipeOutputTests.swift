import AudioCore
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import MixedOutput

/// Streams that are mixed for a program that reads a FIFO.
@Suite(.serialized, .oneAtATime, .timeLimit(.minutes(5))) struct PipeOutputTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.path("pipe") }

    init() { LoopThread.start() }

    @PlayerLoop private func mixer(_ text: String = "44100:16:2") -> Mixer {
        Mixer(EventLoop.current, PipeSink(EventLoop.current, path: path, FixedFormat(text)!))
    }

    @PlayerLoop private func connect(_ mixer: Mixer, _ log: OutputLog) async -> MixedOutput {
        let output = MixedOutput(EventLoop.current, mixer)
        output.delegate = log
        output.connect()
        await log.next(.connection(nil))
        return output
    }

    @PlayerLoop private func open(_ output: MixedOutput, _ log: OutputLog, _ format: AudioFormat) async
        -> any AudioStream
    {
        let stream = output.openStream(format, delegate: log)
        await log.next(.ready)
        return stream
    }

    /// Samples of the reader, once it has all that was sent.
    private func samples(_ reader: PipeReader) -> [Int16] {
        _ = becomes { reader.isOver }
        return int16Samples(reader.bytes)
    }

    @Test("a stream of the pipe's own format passes bit for bit, and no faster than its lead")
    @PlayerLoop func exact() async throws {
        let reader = PipeReader(path)
        let log = OutputLog()
        let output = await connect(mixer(), log)
        let stream = await open(output, log, .compactDisc)
        let sent = PositionCode.int16(from: 7, count: 44100)
        stream.write(sent)
        let began = EventLoop.now
        #expect(await stream.corked(false) == nil)
        await log.next(.started)
        #expect(await stream.drained() == nil)
        let took = EventLoop.now.seconds(since: began)
        #expect(took >= 1)
        output.disconnect()
        #expect(samples(reader) == sent)
        for index in stride(from: 0, to: 44100, by: 441) {
            let read = try #require(reader.time(ofByte: 4 * index)).seconds(since: began)
            #expect(read >= Double(index) / 44100 - 0.2, "frame \(index) came at \(read) s")
        }
    }

    @Test("two streams add up, each from the frame at which it began; the volume is that of its output")
    @PlayerLoop func adds() async throws {
        let reader = PipeReader(path)
        let logs = [OutputLog(), OutputLog()]
        let shared = mixer()
        let first = await connect(shared, logs[0])
        let second = await connect(shared, logs[1])
        let streams = [await open(first, logs[0], .compactDisc), await open(second, logs[1], .compactDisc)]
        second.setVolume(0.5, muted: false)
        #expect(first.isVolumeNeutral && !second.isVolumeNeutral)
        let (long, short) = ([Int16](repeating: 8000, count: 2 * 44100), [Int16](repeating: 8000, count: 2 * 11025))
        streams[0].write(long)
        streams[1].write(short)
        #expect(await streams[0].corked(false) == nil)
        await LoopThread.wait(seconds: 0.3)
        #expect(await streams[1].corked(false) == nil)
        #expect(await streams[1].drained() == nil)
        #expect(await streams[0].drained() == nil)
        first.disconnect()
        second.disconnect()
        let found = samples(reader)
        #expect(found.count == long.count)
        let louder = found.indices.filter { found[$0] != 8000 }
        let range = try #require(louder.first)...louder.last!
        #expect(range.count == short.count)
        // 8000 at a volume of 0.5, which is a factor of 1/8, and its dither.
        #expect(range.allSatisfy { abs(Int(found[$0]) - 9000) <= 2 })
    }

    @Test("a stream that is stopped goes on with its next frame, and nothing is sent meanwhile")
    @PlayerLoop func resumes() async throws {
        let reader = PipeReader(path)
        let log = OutputLog()
        let output = await connect(mixer(), log)
        let stream = await open(output, log, .compactDisc)
        let sent = PositionCode.int16(from: 0, count: 2 * 44100)
        stream.write(sent)
        for _ in 0..<5 {
            #expect(await stream.corked(false) == nil)
            await LoopThread.wait(seconds: 0.15)
            #expect(await stream.corked(true) == nil)
            let timing = try await stream.timing()
            #expect(!timing.isPlaying && timing.audibleFrame == Double(timing.takenFrame))
            #expect(becomes { reader.count == 4 * Int(timing.takenFrame) })
            let switches = reader.count
            await LoopThread.wait(seconds: 0.3)
            #expect(reader.count == switches)
        }
        #expect(await stream.corked(false) == nil)
        #expect(await stream.drained() == nil)
        output.disconnect()
        #expect(samples(reader) == sent)
    }

    @Test("the position is that of the schedule, at every rate", arguments: [44100, 48000, 22050])
    @PlayerLoop func position(_ rate: Int) async throws {
        let reader = PipeReader(path)
        let log = OutputLog()
        let output = await connect(mixer(), log)
        let stream = await open(output, log, AudioFormat(sampleFormat: .int16, sampleRate: rate, channelCount: 2))
        stream.write(PositionCode.int16(from: 0, count: 3 * rate))
        #expect(await stream.corked(false) == nil)
        await log.next(.started)
        var first = try await stream.timing()
        var moves = 0
        for _ in 0..<10 {
            await LoopThread.wait(seconds: 0.07)
            let later = try await stream.timing()
            // A report of a move that this timing knows has come when the next one has.
            _ = try await stream.timing()
            guard log.count(.moved) == moves, first.latency > 0, later.latency > 0 else {
                // A busy machine made frames late: the position waited for them, or was reported to have moved.
                moves = log.count(.moved)
                first = try await stream.timing()
                continue
            }
            let moved = (later.audibleFrame - first.audibleFrame) / Double(rate)
            #expect(abs(moved - later.time.seconds(since: first.time)) < 2e-6)
            #expect(later.isPlaying && later.latency < 0.3 && Double(later.takenFrame) >= later.audibleFrame)
            let ahead = Double(later.takenFrame) - later.audibleFrame
            #expect(abs(ahead / Double(rate) - later.latency) < 1e-9)
        }
        // After a stop in the middle of the resampler's frames, the stream resumes there: the recording has no gap.
        #expect(await stream.corked(true) == nil)
        let held = try await stream.timing().audibleFrame
        #expect(await stream.corked(false) == nil)
        await log.next(.started)
        let again = try await stream.timing()
        #expect(abs(again.audibleFrame - held) < 0.25 * Double(rate))
        output.disconnect()
        reader.end()
    }

    @Test(
        "without a reader there is no connection; the first reader is reported, whether it waits or not",
        arguments: [true, false])
    @PlayerLoop func readerComes(_ waits: Bool) async throws {
        let log = OutputLog()
        let shared = mixer()
        let output = MixedOutput(EventLoop.current, shared)
        output.delegate = log
        output.connect()
        let event = await log.next { if case .connection = $0 { true } else { false } }
        guard case .connection(let error?) = event else { return #expect(Bool(false), "it connected") }
        #expect(error.kind == .noServer && error.message.contains(path))
        #expect(!output.isConnected)
        let reader: PipeReader
        let news = EventCount()
        // A program like cat waits in open(2) for a writer.
        let cat = waits ? TestProcess(["sh", "-c", "exec cat < \"$0\" > /dev/null", path]) : nil
        if waits { await LoopThread.wait(seconds: 0.2) }
        let watch = shared.watch { news.add() }
        reader = PipeReader(waits ? folder.path("other") : path)
        await news.first()
        output.connect()
        await log.next(.connection(nil))
        withExtendedLifetime(watch) {}
        output.disconnect()
        cat?.end()
        reader.end()
    }

    @Test("a reader that goes ends the connection with its streams, and the next one gets nothing old")
    @PlayerLoop func readerGoes() async throws {
        let log = OutputLog()
        let shared = mixer()
        var reader = PipeReader(path)
        let output = await connect(shared, log)
        for round in 0..<3 {
            let stream = await open(output, log, .compactDisc)
            stream.write(PositionCode.int16(from: 100_000 * round, count: 88200))
            reader.pause()
            #expect(await stream.corked(false) == nil)
            await log.next(.started)
            reader.end()
            let event = await log.next { if case .connection = $0 { true } else { false } }
            guard case .connection(let error?) = event else { return #expect(Bool(false), "no loss") }
            #expect(error.kind == .noServer)
            #expect(!output.isConnected)
            #expect(await stream.corked(true) != nil)
            let news = EventCount()
            let watch = shared.watch { news.add() }
            reader = PipeReader(path)
            await news.first()
            output.connect()
            await log.next(.connection(nil))
            #expect(reader.count == 0)
            withExtendedLifetime(watch) {}
        }
        output.disconnect()
        reader.end()
    }

    @Test("the reader of a FIFO that was made anew while one was awaited is reported")
    @PlayerLoop func madeAnew() async throws {
        let log = OutputLog()
        let shared = mixer()
        let news = EventCount()
        let watch = shared.watch { news.add() }
        #expect(unlink(path) == 0 && mkfifo(path, 0o600) == 0)
        let output = MixedOutput(EventLoop.current, shared)
        output.delegate = log
        output.connect()
        let event = await log.next { if case .connection = $0 { true } else { false } }
        guard case .connection(let error?) = event else { return #expect(Bool(false), "it connected") }
        #expect(error.kind == .noServer)
        let reader = PipeReader(path)
        await news.first()
        output.connect()
        await log.next(.connection(nil))
        withExtendedLifetime(watch) {}
        output.disconnect()
        reader.end()
    }

    @Test("a reader that stops to read is reported as one that hangs, and play can go on when it reads again")
    @PlayerLoop func readerHangs() async throws {
        let log = OutputLog()
        let reader = PipeReader(path)
        let output = await connect(mixer(), log)
        let stream = await open(output, log, .compactDisc)
        stream.write(PositionCode.int16(from: 0, count: 44100 * 5))
        #expect(await stream.corked(false) == nil)
        await log.next(.started)
        reader.pause()
        let event = await log.next { if case .connection = $0 { true } else { false } }
        guard case .connection(let error?) = event else { return #expect(Bool(false), "no loss") }
        #expect(error.kind == .serverHung)
        output.connect()
        await LoopThread.wait(seconds: 0.1)
        #expect(output.isConnecting && !output.isConnected)
        reader.resume()
        await log.next(.connection(nil))
        output.disconnect()
        // All that was sent is there, whole frames in their order.
        let found = samples(reader)
        #expect(found.count > 2 * 44100 / 4)
        #expect(found == PositionCode.int16(from: 0, count: found.count / 2))
    }

    @Test("what is no FIFO is refused and stays as it is") @PlayerLoop func noPipe() async throws {
        _ = folder.write([1, 2, 3], "pipe")
        let log = OutputLog()
        let output = MixedOutput(EventLoop.current, mixer())
        output.delegate = log
        output.connect()
        let event = await log.next { if case .connection = $0 { true } else { false } }
        guard case .connection(let error?) = event else { return #expect(Bool(false), "it connected") }
        #expect(error.message == "\(path) cannot be written: it is not a FIFO; remove it, or name another path")
        #expect(folder.read("pipe") == [1, 2, 3])
    }
}

/// Counts events, and lets a test wait for the first.
@PlayerLoop private final class EventCount {
    private var count = 0
    private var waiting: CheckedContinuation<Void, Never>?

    func add() {
        count += 1
        waiting?.resume()
        waiting = nil
    }

    func first() async { if count == 0 { await withCheckedContinuation { waiting = $0 } } }
}

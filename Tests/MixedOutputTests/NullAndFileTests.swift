import AudioCore
import CVirtualTime
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import MixedOutput

@Suite(.serialized, .oneAtATime, .timeLimit(.minutes(5))) struct NullAndFileTests {
    init() { LoopThread.start() }

    private func read(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4 << 20)
        return Array(bytes[..<fread(&bytes, 1, bytes.count, file)])
    }

    private func path(_ name: String) -> String { "/tmp/output-\(getpid())-\(name)" }

    /// Runs the due work of `seconds` of virtual time. Returns the number of instants with work.
    @PlayerLoop private func pass(_ seconds: Double) -> Int {
        let end = EventLoop.now.advanced(bySeconds: seconds).nanoseconds
        var (instants, last) = (0, EventLoop.now.nanoseconds)
        var due = virtual_time_next()
        while due >= 0, due <= end {
            virtual_time_set(max(due, last))
            if due > last { (instants, last) = (instants + 1, due) }
            _ = virtual_time_dispatch()
            due = virtual_time_next()
        }
        virtual_time_set(end)
        return instants
    }

    @PlayerLoop private func timing(_ stream: any AudioStream) throws -> StreamTiming {
        let stream = try #require(stream as? NullStream)
        stream.advance(EventLoop.now)
        return stream.timing(at: EventLoop.now)
    }

    @Test("the null output's position is that of the clock, and it wakes once per refill")
    @PlayerLoop func nullClock() throws {
        EventLoop.current.separateDeferred()
        virtual_time_enter(1_000_000_000_000)
        defer {
            virtual_time_leave()
            EventLoop.current.joinDeferred()
        }
        let log = OutputLog()
        let output = NullOutput(EventLoop.current)
        output.delegate = log
        output.connect()
        _ = pass(0)
        // Many channels make short refills.
        let format = AudioFormat(sampleFormat: .float32, sampleRate: 96000, channelCount: 8)
        var written: Int64 = 0
        log.refill = { stream in
            let count = stream.targetFrames / 2
            stream.write([Float](repeating: 0, count: Int(count) * 8))
            written += count
        }
        let stream = output.openStream(format, delegate: log)
        defer {
            stream.close()
            output.disconnect()
            _ = pass(0)
        }
        _ = pass(1)
        let before = log.count(.needsFrames)
        #expect(before > 0 && written <= stream.targetFrames)
        stream.setCorked(false) { _ in }
        let instants = pass(4)
        let requests = log.count(.needsFrames) - before
        let playing = try timing(stream)
        #expect(playing.isPlaying && playing.audibleFrame == 4 * 96000 && playing.takenFrame == 4 * 96000)
        #expect(instants == requests && requests <= Int(playing.takenFrame / stream.refillFrames))
        #expect(requests > 0 && log.count(.underflow) == 0)
        log.refill = nil
        _ = pass(10)
        #expect(log.count(.underflow) == 1)
        let starved = try timing(stream)
        #expect(!starved.isPlaying && starved.takenFrame == written)
    }

    @Test("a file gets exactly the samples, and each run of a format a file of its own")
    @PlayerLoop func fileRuns() async throws {
        let log = OutputLog()
        let output = FileOutput(EventLoop.current, path: path("runs.wav"))
        output.delegate = log
        output.connect()
        await log.next(.connection(nil))
        let other = AudioFormat(sampleFormat: .int32, sampleRate: 48000, channelCount: 6)
        let sent = PositionCode.int16(from: 0, count: 300_000)
        for (format, frames) in [(AudioFormat.compactDisc, sent[..<400_000]), (.compactDisc, sent[400_000...])] {
            let stream = output.openStream(format, delegate: log)
            await log.next(.ready)
            stream.write(Array(frames))
            #expect(await stream.corked(false) == nil)
            #expect(await stream.drained() == nil)
            stream.close()
        }
        let stream = output.openStream(other, delegate: log)
        await log.next(.ready)
        let surround = PositionCode.int32(from: 7, count: 1000, channels: 6)
        stream.write(surround)
        #expect(await stream.corked(false) == nil)
        #expect(await stream.drained() == nil)
        stream.close()
        output.disconnect()
        let first = read(path("runs.wav"))
        #expect(first.suffix(1_200_000).elementsEqual(sent.withUnsafeBytes { Array($0) }))
        let second = read(path("runs-2.wav"))
        #expect(second.suffix(24000).elementsEqual(surround.withUnsafeBytes { Array($0) }))
        let described = TestProcess.run(["soxi", path("runs.wav"), path("runs-2.wav")])
        #expect(described.status == 0)
        #expect(described.text.contains("300000 samples") && described.text.contains("1000 samples"))
        #expect(described.text.contains(": 6") && described.text.contains(": 48000"))
        unlink(path("runs.wav"))
        unlink(path("runs-2.wav"))
    }

    @Test("corked, nothing goes to the file; rewritten frames are written as rewritten; volume is applied")
    @PlayerLoop func fileRewrite() async throws {
        let log = OutputLog()
        let output = FileOutput(EventLoop.current, path: path("rewrite.wav"))
        output.delegate = log
        output.connect()
        await log.next(.connection(nil))
        let stream = output.openStream(.compactDisc, delegate: log)
        await log.next(.ready)
        stream.write([Int16](repeating: 1000, count: 20000))
        stream.write([Int16](repeating: 2000, count: 10000), at: 5000)
        output.setVolume(0.5, muted: false)
        #expect(access(path("rewrite.wav"), F_OK) != 0)
        #expect(await stream.corked(false) == nil)
        #expect(await stream.drained() == nil)
        // After a gap, and partly before the frames that are already in the file.
        stream.write([Int16](repeating: 4000, count: 2000), at: 9500)
        stream.write([Int16](repeating: 8000, count: 20), at: 11000)
        #expect(await stream.drained() == nil)
        #expect(try await stream.timing().takenFrame == 11010)
        stream.close()
        output.disconnect()
        let samples = read(path("rewrite.wav")).suffix(11010 * 4).withUnsafeBytes {
            Array($0.bindMemory(to: Int16.self))
        }
        let runs: [(value: Int16, count: Int)] = [(125, 10000), (250, 10000), (500, 1000), (0, 1000), (1000, 20)]
        let expected = runs.flatMap { [Int16](repeating: $0.value, count: $0.count) }
        #expect(samples == expected)
        unlink(path("rewrite.wav"))
    }

    @Test("a full disk fails the stream in words")
    @PlayerLoop func fullDisk() async throws {
        let log = OutputLog()
        let output = FileOutput(EventLoop.current, path: "/dev/full")
        output.delegate = log
        output.connect()
        await log.next(.connection(nil))
        let stream = output.openStream(.compactDisc, delegate: log)
        await log.next(.ready)
        stream.write([Int16](repeating: 1, count: 88200))
        stream.setCorked(false) { _ in }
        let event = await log.next { if case .failed = $0 { true } else { false } }
        #expect(event == .failed(OutputError(.noDevice, "/dev/full cannot be written: No space left on device")))
        #expect(await stream.corked(false) != nil)
        output.disconnect()
    }

    @Test("a file in a folder that is missing refuses the connection in words, until the folder is there")
    @PlayerLoop func missingFolder() async throws {
        let folder = path("later")
        let log = OutputLog()
        let output = FileOutput(EventLoop.current, path: folder + "/x.wav")
        output.delegate = log
        output.connect()
        let words = "\(folder)/x.wav cannot be written: No such file or directory"
        await log.next(.connection(OutputError(.noServer, words)))
        #expect(!output.isConnected && !output.isConnecting)
        #expect(mkdir(folder, 0o700) == 0)
        output.connect()
        await log.next(.connection(nil))
        output.disconnect()
        #expect(rmdir(folder) == 0, "a file without samples was made")
    }

    @Test("past the limit of WAVE the file is RF64, and sox reads both")
    func longFile() throws {
        let format = AudioFormat(sampleFormat: .float32, sampleRate: 44100, channelCount: 1)
        for limit: UInt64 in [1 << 32 - 1, 1000] {
            let name = path("long-\(limit).wav")
            let file = try WaveFile(path: name, format, limit: limit)
            let samples = PositionCode.float(from: 0, count: 3001, channels: 1)
            try samples.withUnsafeBytes { try file.append($0) }
            try file.finish()
            let bytes = read(name)
            #expect(Array(bytes[..<4]) == Array((limit == 1000 ? "RF64" : "RIFF").utf8))
            let information = TestProcess.run(["ffprobe", "-v", "error", "-show_streams", name]).text
            #expect(information.contains("duration_ts=3001"))
            #expect(information.contains("codec_name=pcm_f32le"))
            unlink(name)
        }
    }
}

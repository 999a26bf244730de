import AudioCore
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import MixedOutput
@testable import PulseOutput

/// The contract of every output (AudioOutput.swift), tested on each.
@Suite(.serialized, .oneAtATime, .timeLimit(.minutes(5))) struct ConformanceTests {
    /// `converted`: a pipe whose rate and channels are others than those of the streams.
    enum Kind: String, CaseIterable { case null, file, pulse, pipe, converted }

    private static var pipe: String { "/tmp/conformance-\(getpid()).pipe" }
    @PlayerLoop private static var reader: PipeReader?

    init() { LoopThread.start() }

    @PlayerLoop private func make(_ kind: Kind) async -> any AudioOutput {
        switch kind {
        case .null: NullOutput(EventLoop.current)
        case .file: FileOutput(EventLoop.current, path: "/tmp/conformance-\(getpid()).wav")
        case .pulse: PulseOutput(EventLoop.current, server: await SharedServer.pulseAudio.value.address)
        case .pipe: makePipe(.compactDisc)
        case .converted: makePipe(FixedFormat("48000:24:1")!)
        }
    }

    @PlayerLoop private func makePipe(_ format: FixedFormat) -> any AudioOutput {
        Self.reader = PipeReader(Self.pipe, staysForNext: true)
        return MixedOutput(
            EventLoop.current, Mixer(EventLoop.current, PipeSink(EventLoop.current, path: Self.pipe, format)))
    }

    @PlayerLoop private func open(_ kind: Kind, _ log: OutputLog) async -> (any AudioOutput, any AudioStream) {
        let output = await make(kind)
        output.delegate = log
        output.connect()
        await log.next(.connection(nil))
        let stream = output.openStream(.compactDisc, delegate: log)
        await log.next(.ready)
        return (output, stream)
    }

    @PlayerLoop private func finish(_ kind: Kind, _ output: any AudioOutput) {
        output.disconnect()
        if kind == .file { unlink("/tmp/conformance-\(getpid()).wav") }
        Self.reader?.end()
        Self.reader = nil
        unlink(Self.pipe)
    }

    @Test("a connection is reported once and later, and another attempt does nothing", arguments: Kind.allCases)
    @PlayerLoop func connects(_ kind: Kind) async throws {
        let log = OutputLog()
        let output = await make(kind)
        output.delegate = log
        #expect(!output.isConnected)
        output.connect()
        output.connect()
        #expect(log.events.isEmpty)
        await log.next(.connection(nil))
        #expect(output.isConnected)
        output.connect()
        #expect(try await output.devices().contains { $0.isDefault })
        #expect(log.count(.connection(nil)) == 1)
        output.disconnect()
        #expect(!output.isConnected)
        output.connect()
        await log.next(.connection(nil))
        finish(kind, output)
    }

    @Test("a stream of an output that is not connected fails, later", arguments: Kind.allCases)
    @PlayerLoop func notConnected(_ kind: Kind) async {
        let log = OutputLog()
        let output = await make(kind)
        let stream = output.openStream(.compactDisc, delegate: log)
        #expect(log.events.isEmpty)
        let event = await log.next { if case .failed = $0 { true } else { false } }
        guard case .failed(let error) = event else { return }
        #expect(error.kind == .noServer)
        #expect(await stream.corked(false) != nil)
        finish(kind, output)
    }

    @Test("a stream is ready, asks for frames, plays what it gets and drains", arguments: Kind.allCases)
    @PlayerLoop func playsToTheEnd(_ kind: Kind) async throws {
        let log = OutputLog()
        let (output, stream) = await open(kind, log)
        await log.next(.needsFrames)
        #expect(stream.targetFrames >= stream.refillFrames)
        #expect(stream.refillFrames > 0 && stream.prebufferFrames > 0)
        let before = try await stream.timing()
        #expect(before.takenFrame == 0 && before.audibleFrame == 0 && !before.isPlaying)
        stream.write(PositionCode.int16(from: 0, count: 22050))
        #expect(log.count(.started) == 0)
        #expect(await stream.corked(false) == nil)
        await log.next(.started)
        #expect(await stream.drained() == nil)
        let after = try await stream.timing()
        #expect(after.takenFrame == 22050)
        // A drain at a server is answered when the device has taken all, up to its latency before it is heard.
        #expect(kind == .pulse ? after.audibleFrame <= 22050 : after.audibleFrame == 22050)
        #expect(!after.isPlaying || kind != .null)
        #expect(log.count(.underflow) == 0)
        stream.close()
        finish(kind, output)
    }

    @Test("less than the prebuffer stays silent until it is drained", arguments: Kind.allCases)
    @PlayerLoop func shortTail(_ kind: Kind) async throws {
        let log = OutputLog()
        let (output, stream) = await open(kind, log)
        stream.write(PositionCode.int16(from: 0, count: 100))
        #expect(await stream.corked(false) == nil)
        #expect(try await stream.timing().takenFrame == 0)
        #expect(log.count(.started) == 0)
        #expect(await stream.drained() == nil)
        #expect(try await stream.timing().takenFrame == 100)
        stream.close()
        finish(kind, output)
    }

    @Test("draining a corked stream is refused, and close ends what is outstanding", arguments: Kind.allCases)
    @PlayerLoop func refusals(_ kind: Kind) async throws {
        let log = OutputLog()
        let (output, stream) = await open(kind, log)
        stream.write(PositionCode.int16(from: 0, count: 44100))
        #expect(await stream.drained()?.kind == .refused)
        var results: [Bool] = []
        #expect(await stream.corked(false) == nil)
        stream.readTiming { results.append((try? $0.get()) != nil) }
        stream.flush { results.append($0 == nil) }
        stream.drain { results.append($0 == nil) }
        stream.close()
        #expect(results.isEmpty)
        #expect(await stream.corked(true) != nil)
        #expect(results == [false, false, false])
        let events = log.events
        await LoopThread.turns(3)
        #expect(log.events == events)
        finish(kind, output)
    }

    @Test("flushed and corked, the next frame written is the next one taken", arguments: Kind.allCases)
    @PlayerLoop func flushWhileCorked(_ kind: Kind) async throws {
        let log = OutputLog()
        let (output, stream) = await open(kind, log)
        stream.write(PositionCode.int16(from: 0, count: 44100))
        #expect(await stream.corked(false) == nil)
        await log.next(.started)
        #expect(await stream.corked(true) == nil)
        let paused = try await stream.timing()
        #expect(await stream.flushed() == nil)
        let flushed = try await stream.timing()
        #expect(flushed.takenFrame == paused.takenFrame)
        stream.write(PositionCode.int16(from: 0, count: 2205), at: flushed.takenFrame)
        stream.write(PositionCode.int16(from: 2205, count: 2205))
        #expect(await stream.corked(false) == nil)
        #expect(await stream.drained() == nil)
        #expect(try await stream.timing().takenFrame == flushed.takenFrame + 4410)
        stream.close()
        finish(kind, output)
    }

    @Test("what is not audible yet is rewritten, and the end moves with it", arguments: Kind.allCases)
    @PlayerLoop func rewritten(_ kind: Kind) async throws {
        let log = OutputLog()
        let (output, stream) = await open(kind, log)
        stream.write(PositionCode.int16(from: 0, count: 88200))
        stream.write(PositionCode.int16(from: 500, count: 11025), at: 22050)
        #expect(await stream.corked(false) == nil)
        #expect(await stream.drained() == nil)
        #expect(try await stream.timing().takenFrame == 33075)
        stream.close()
        finish(kind, output)
    }

    @Test("frames written without a copy are played as they are, and let go", arguments: Kind.allCases)
    @PlayerLoop func withoutCopy(_ kind: Kind) async throws {
        let log = OutputLog()
        let (output, stream) = await open(kind, log)
        let first = stream.writeKept(PositionCode.int16(from: 0, count: 40000))
        let second = stream.writeKept(PositionCode.int16(from: 100, count: 40000), at: 10000)
        #expect(await stream.corked(false) == nil)
        #expect(await stream.drained() == nil)
        #expect(try await stream.timing().takenFrame == 50000)
        #expect(first() == nil && second() == nil)
        // A stream that ends with frames on their way lets go of them too.
        let last = stream.writeKept(PositionCode.int16(from: 0, count: 200_000))
        stream.close()
        output.disconnect()
        await LoopThread.turns(3)
        #expect(last() == nil)
        finish(kind, output)
    }

    @Test("disconnecting is silent", arguments: Kind.allCases)
    @PlayerLoop func disconnects(_ kind: Kind) async {
        let log = OutputLog()
        let (output, stream) = await open(kind, log)
        stream.write(PositionCode.int16(from: 0, count: 44100))
        let events = log.events
        var failed = false
        stream.setCorked(false) { failed = $0 != nil }
        output.disconnect()
        await LoopThread.turns(5)
        #expect(failed)
        #expect(log.events == events)
        finish(kind, output)
    }
}

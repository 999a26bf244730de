import AudioCore
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import MixedOutput

/// Streams that are mixed for a source of a Snapcast server; here, a program that reads the frames.
@Suite(.serialized, .oneAtATime, .timeLimit(.minutes(5))) struct SnapcastOutputTests {
    /// Seconds of the buffer of the rooms.
    private static let buffer = 0.1
    /// Frames of a chunk.
    private static let chunk = 960

    init() { LoopThread.start() }

    @PlayerLoop private func mixer(_ address: String) -> Mixer {
        let timing = SnapcastTiming(buffer: Self.buffer)
        return Mixer(
            EventLoop.current, SnapcastSink(EventLoop.current, SnapcastAddress(address)!, .snapcast, timing))
    }

    @PlayerLoop private func connect(_ mixer: Mixer, _ log: OutputLog) async -> MixedOutput {
        let output = MixedOutput(EventLoop.current, mixer)
        output.delegate = log
        output.connect()
        await log.next(.connection(nil))
        return output
    }

    @PlayerLoop private func open(_ output: MixedOutput, _ log: OutputLog) async -> any AudioStream {
        let stream = output.openStream(
            AudioFormat(sampleFormat: .int16, sampleRate: 48000, channelCount: 2), delegate: log)
        await log.next(.ready)
        return stream
    }

    @PlayerLoop private func lost(_ log: OutputLog) async -> OutputError? {
        let event = await log.next { if case .connection = $0 { true } else { false } }
        guard case .connection(let error) = event else { return nil }
        return error
    }

    @Test("a stream of the source's format passes bit for bit, no faster than its lead; it drains when it is heard")
    @PlayerLoop func exact() async throws {
        let reader = SocketReader()
        let log = OutputLog()
        let output = await connect(mixer(reader.address), log)
        let stream = await open(output, log)
        let sent = PositionCode.int16(from: 7, count: 48100)
        stream.write(sent)
        let began = EventLoop.now
        #expect(await stream.corked(false) == nil)
        await log.next(.started)
        let timing = try await stream.timing()
        // The first frame is heard after the buffer less a chunk, which the server gives the time of its beginning.
        let heard = timing.time.seconds(since: began) - timing.audibleFrame / 48000
        #expect(timing.isPlaying && heard > 0.08 && heard < 0.08 + timing.time.seconds(since: began))
        #expect(await stream.drained() == nil)
        #expect(EventLoop.now.seconds(since: began) >= 48100.0 / 48000 + 0.08)
        output.disconnect()
        let chunks = (48100 + Self.chunk - 1) / Self.chunk
        #expect(becomes { reader.count == 4 * Self.chunk * chunks })
        let found = int16Samples(reader.connections[0])
        #expect(Array(found.prefix(sent.count)) == sent && found.dropFirst(sent.count).allSatisfy { $0 == 0 })
        for piece in reader.pieces {
            let ahead = Double(piece.end / 4) / 48000 - piece.time.seconds(since: began)
            #expect(ahead < 0.2 + 0.02, "\(piece.end) bytes \(ahead) s ahead")
        }
        reader.end()
    }

    @Test("a rest ends the connection, with whole chunks; play makes another one, and goes on with the next frame")
    @PlayerLoop func rests() async throws {
        let reader = SocketReader()
        let log = OutputLog()
        let output = await connect(mixer(reader.address), log)
        let stream = await open(output, log)
        let sent = PositionCode.int16(from: 0, count: 3 * 48000)
        stream.write(sent)
        for _ in 0..<4 {
            #expect(await stream.corked(false) == nil)
            await log.next(.started)
            await LoopThread.wait(seconds: 0.15)
            #expect(await stream.corked(true) == nil)
            let timing = try await stream.timing()
            #expect(!timing.isPlaying && timing.audibleFrame == Double(timing.takenFrame))
            await LoopThread.wait(seconds: 0.6)
            let count = reader.count
            #expect(count % (4 * Self.chunk) == 0)
            await LoopThread.wait(seconds: 0.3)
            #expect(reader.count == count)
        }
        // A pause that is shorter than the lead needs no rest, and has no gap.
        #expect(await stream.corked(false) == nil)
        await log.next(.started)
        #expect(await stream.corked(true) == nil)
        #expect(await stream.corked(false) == nil)
        #expect(await stream.drained() == nil)
        output.disconnect()
        #expect(becomes { reader.connections.count == 5 && reader.count % (4 * Self.chunk) == 0 })
        let parts = reader.connections.map { int16Samples($0) }
        // The silence that fills the last chunk of each connection is left out: no sample of the code is 0.
        let found = parts.flatMap { part in part[..<((part.lastIndex { $0 != 0 } ?? -1) + 1)] }
        #expect(found == sent)
        reader.end()
    }

    @Test("a server that closes the connection ends the streams; connecting again is possible") @PlayerLoop
    func serverGoes() async throws {
        let reader = SocketReader()
        let log = OutputLog()
        let output = await connect(mixer(reader.address), log)
        for _ in 0..<3 {
            let stream = await open(output, log)
            stream.write(PositionCode.int16(from: 0, count: 96000))
            #expect(await stream.corked(false) == nil)
            await log.next(.started)
            reader.drop()
            let error = await lost(log)
            #expect(error?.kind == .noServer && error?.message.contains(reader.address) == true)
            #expect(!output.isConnected)
            #expect(await stream.corked(true) != nil)
            output.connect()
            await log.next(.connection(nil))
        }
        output.disconnect()
        reader.end()
    }

    @Test("a server that refuses is reported, and so is one that is no source") @PlayerLoop func refusals() async throws
    {
        let reader = SocketReader()
        let log = OutputLog()
        let output = await connect(mixer(reader.address), log)
        reader.speak()
        let foreign = await lost(log)
        #expect(foreign?.kind == .noServer && foreign?.message.contains("is not a source") == true)
        reader.end()
        output.connect()
        let refused = await lost(log)
        #expect(refused?.kind == .noServer && refused?.message.contains("Connection refused") == true)
        #expect(!output.isConnected && !output.isConnecting)
    }

    @Test("a server that stops reading is reported as one that hangs; it is connected again when it has read all")
    @PlayerLoop func serverHangs() async throws {
        let reader = SocketReader()
        let log = OutputLog()
        let output = await connect(mixer(reader.address), log)
        let stream = await open(output, log)
        stream.write(PositionCode.int16(from: 0, count: 48000 * 8))
        #expect(await stream.corked(false) == nil)
        await log.next(.started)
        reader.pause()
        let error = await lost(log)
        #expect(error?.kind == .serverHung)
        output.connect()
        await LoopThread.wait(seconds: 0.3)
        #expect(output.isConnecting && !output.isConnected)
        reader.resume()
        await log.next(.connection(nil))
        let again = await open(output, log)
        again.write(PositionCode.int16(from: 0, count: 48000))
        #expect(await again.corked(false) == nil)
        await log.next(.started)
        output.disconnect()
        reader.end()
    }
}

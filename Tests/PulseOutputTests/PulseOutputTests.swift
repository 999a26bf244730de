import AudioCore
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PulseOutput

/// One private PulseAudio for the whole process; each test brings its own sinks.
enum SharedServer {
    static let pulseAudio = Task { await SoundServer.pulseAudio([TestSink("default")]) }
}

@Suite(.serialized, .oneAtATime, .timeLimit(.minutes(5))) struct PulseOutputTests {
    let server: SoundServer

    init() async {
        LoopThread.start()
        server = await SharedServer.pulseAudio.value
    }

    @PlayerLoop private func connected(_ sink: String?, _ log: OutputLog) async -> PulseOutput {
        let output = PulseOutput(EventLoop.current, server: server.address, sinkName: sink)
        output.delegate = log
        output.connect()
        await log.next(.connection(nil))
        return output
    }

    /// Formats that each get a sink of their own, and that sink's name for the sample format.
    static let formats: [(AudioFormat, String)] = [
        (.compactDisc, "s16le"),
        (AudioFormat(sampleFormat: .int32, sampleRate: 96000, channelCount: 2), "s32le"),
        (AudioFormat(sampleFormat: .int24, sampleRate: 192_000, channelCount: 2), "s24le"),
        (AudioFormat(sampleFormat: .int24, sampleRate: 48000, channelCount: 5), "s24le"),
        (AudioFormat(sampleFormat: .float32, sampleRate: 48000, channelCount: 2), "float32le"),
        (AudioFormat(sampleFormat: .int16, sampleRate: 8000, channelCount: 1), "s16le"),
        (AudioFormat(sampleFormat: .int32, sampleRate: 48000, channelCount: 6), "s32le"),
        (AudioFormat(sampleFormat: .float32, sampleRate: 192_000, channelCount: 8), "float32le"),
    ]

    @Test("every sample format arrives bit by bit")
    func bitExact() async throws {
        // All at once, each on a sink of its own: the recorders take their time.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in Self.formats.indices { group.addTask { try await bitExact(index) } }
            try await group.waitForAll()
        }
    }

    @PlayerLoop private func bitExact(_ index: Int) async throws {
        let (format, name) = Self.formats[index]
        let log = OutputLog()
        let sink = TestSink(
            "exact\(index)", format: name, rate: format.sampleRate, channelMap: pulseNames(format.channels))
        let module = server.load(sink)
        let output = await connected(sink.name, log)
        let recorder = await Recorder.start(server, sink)
        let stream = output.openStream(format, delegate: log)
        await log.next(.ready)
        let sent = code(format, from: 1000, count: format.sampleRate / 2)
        sent.withUnsafeBytes { stream.write($0, at: nil) }
        #expect(await stream.corked(false) == nil)
        #expect(await stream.drained() == nil)
        await recorder.waitFor(more: 0.3)
        recorder.stop()
        let recorded = recorder.bytes()
        let first = recorded.firstIndex { $0 != 0 }.map { $0 / format.bytesPerFrame * format.bytesPerFrame }
        let start = try #require(first)
        let heard = recorded[start...].prefix(sent.count)
        #expect(heard.elementsEqual(sent))
        #expect(recorded[(start + heard.count)...].allSatisfy { $0 == 0 })
        stream.close()
        output.disconnect()
        server.control("unload-module", module)
    }

    /// Test audio as bytes of a format.
    private func code(_ format: AudioFormat, from frame: Int, count: Int) -> [UInt8] {
        let channels = format.channels.count
        switch format.sampleFormat {
        case .int16:
            return PositionCode.int16(from: frame, count: count, channels: channels).withUnsafeBytes { Array($0) }
        case .int24:
            return PositionCode.int24(from: frame, count: count, channels: channels)
        case .int32:
            return PositionCode.int32(from: frame, count: count, channels: channels).withUnsafeBytes { Array($0) }
        case .float32:
            return PositionCode.float(from: frame, count: count, channels: channels).withUnsafeBytes { Array($0) }
        }
    }
}

/// The server's names of loudspeakers, joined by commas.
private func pulseNames(_ channels: [ChannelPosition]) -> String {
    channels.map { channel in
        switch channel {
        case .mono: "mono"
        case .frontLeft: "front-left"
        case .frontRight: "front-right"
        case .frontCenter: "front-center"
        case .lowFrequency: "lfe"
        case .rearLeft: "rear-left"
        case .rearRight: "rear-right"
        case .sideLeft: "side-left"
        default: "side-right"
        }
    }.joined(separator: ",")
}

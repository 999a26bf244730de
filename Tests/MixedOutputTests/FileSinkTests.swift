import AudioCore
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import MixedOutput

/// Streams that are mixed into a WAVE file.
@Suite(.serialized, .oneAtATime, .timeLimit(.minutes(5))) struct FileSinkTests {
    private let folder = TemporaryFolder()

    init() { LoopThread.start() }

    @PlayerLoop private func connect(_ format: String, _ log: OutputLog, path: String? = nil) async -> MixedOutput {
        let sink = FileSink(EventLoop.current, path: path ?? folder.path("out.wav"), FixedFormat(format)!)
        let output = MixedOutput(EventLoop.current, Mixer(EventLoop.current, sink))
        output.delegate = log
        output.connect()
        await log.next { if case .connection = $0 { true } else { false } }
        return output
    }

    @PlayerLoop private func play<Sample>(
        _ samples: [Sample], _ output: MixedOutput, _ format: AudioFormat, _ log: OutputLog
    ) async {
        let stream = output.openStream(format, delegate: log)
        await log.next(.ready)
        stream.write(samples)
        #expect(await stream.corked(false) == nil)
        #expect(await stream.drained() == nil)
        stream.close()
    }

    @Test("samples of the file's own format pass bit for bit, over a rest, and the header is right after each write")
    @PlayerLoop func exact() async {
        let log = OutputLog()
        let output = await connect("44100:16:2", log)
        let sent = PositionCode.int16(from: 3, count: 22050)
        await play(Array(sent[..<20_000]), output, .compactDisc, log)
        output.disconnect()
        output.connect()
        await log.next { if case .connection = $0 { true } else { false } }
        await play(Array(sent[20_000...]), output, .compactDisc, log)
        let described = TestProcess.run(["soxi", folder.path("out.wav")])
        #expect(described.status == 0 && described.text.contains("22050 samples"), "\(described.text)")
        output.disconnect()
        #expect(folder.read("out.wav").suffix(88200).elementsEqual(sent.withUnsafeBytes { Array($0) }))
    }

    @Test("samples of 24 bit lie in the high bytes, all of them")
    @PlayerLoop func wide() async {
        let log = OutputLog()
        let output = await connect("48000:24:2", log)
        let format = AudioFormat(sampleFormat: .int32, sampleRate: 48000, channelCount: 2)
        let sent = (0..<9600).map { (index: Int32) in (index &* 0x1234_5700) & ~0xFF }
        await play(sent, output, format, log)
        output.disconnect()
        #expect(folder.read("out.wav").suffix(4 * sent.count).elementsEqual(sent.withUnsafeBytes { Array($0) }))
    }

    @Test("a file that cannot be made, and a full disk, are lost devices in words")
    @PlayerLoop func faults() async {
        let none = OutputLog()
        _ = await connect("44100:16:2", none, path: folder.path("missing/out.wav"))
        let text = none.events.compactMap { event -> String? in
            if case .connection(let error?) = event { error.message } else { nil }
        }
        #expect(
            text.first?.hasSuffix("missing/out.wav cannot be written: No such file or directory") == true, "\(text)")
        let full = OutputLog()
        _ = await connect("44100:16:2", full, path: "/dev/full")
        #expect(
            full.count(.connection(OutputError(.noDevice, "/dev/full cannot be written: No space left on device"))) == 1
        )
    }
}

import AudioCore
import CPulse
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PulseOutput

/// Servers and devices that come, go, hang and are changed by others. Each test has a server of its own.
@Suite(.serialized, .oneAtATime, .timeLimit(.minutes(5))) struct PulseFaultTests {
    init() { LoopThread.start() }

    @PlayerLoop private func connect(_ server: SoundServer, _ log: OutputLog, sink: String? = nil) async -> PulseOutput
    {
        let output = PulseOutput(EventLoop.current, server: server.address, sinkName: sink)
        output.delegate = log
        output.connect()
        await log.next(.connection(nil))
        return output
    }

    @PlayerLoop private func play(_ output: PulseOutput, _ log: OutputLog) async -> any AudioStream {
        let stream = output.openStream(.compactDisc, delegate: log)
        await log.next(.ready)
        stream.write(PositionCode.int16(from: 0, count: 300_000))
        #expect(await stream.corked(false) == nil)
        await log.next(.started)
        return stream
    }

    private func isDevice(_ name: String) -> (OutputEvent) -> Bool {
        { if case .device(let device) = $0 { device?.name == name } else { false } }
    }

    @Test(
        "a server that dies is reported once, all is dead, its return is noticed, and playback resumes",
        arguments: [1, 3])
    @PlayerLoop func serverDies(_ times: Int) async throws {
        let server = await SoundServer.pulseAudio([TestSink("s")])
        let log = OutputLog()
        let output = await connect(server, log)
        for _ in 0..<times {
            let stream = await play(output, log)
            var drained: OutputError?
            stream.drain { drained = $0 }
            server.kill()
            let event = await log.next { if case .connection = $0 { true } else { false } }
            guard case .connection(let error) = event else { return }
            #expect(error?.kind == .noServer)
            #expect(!output.isConnected && output.device == nil)
            await LoopThread.turns(3)
            #expect(drained != nil)
            #expect(await stream.corked(false) != nil)
            #expect(log.events.allSatisfy { if case .failed = $0 { false } else { true } })
            #expect(log.events.last == event)
            // Nobody answers yet.
            output.connect()
            let refused = await log.next { if case .connection = $0 { true } else { false } }
            #expect(refused != .connection(nil))
            let watch = ServerWatch(EventLoop.current, server: server.address)
            var notices = 0
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                watch.start {
                    notices += 1
                    if notices == 1 { continuation.resume() }
                }
                Task { @PlayerLoop in await server.startPulseAudio([TestSink("s")]) }
            }
            output.connect()
            await log.next(.connection(nil))
            #expect(notices == 1)
            watch.stop()
        }
        _ = await play(output, log)
        output.disconnect()
        server.stop()
    }

    @Test("a server that hangs fails questions after a second, and is well again when it is heard")
    @PlayerLoop func serverHangs() async throws {
        let server = await SoundServer.pulseAudio([TestSink("s")])
        let log = OutputLog()
        let output = await connect(server, log)
        let stream = await play(output, log)
        #expect(!output.isHung)
        server.process.signal(SIGSTOP)
        await #expect(throws: OutputError(.serverHung, "the sound server does not answer")) {
            try await stream.timing()
        }
        #expect(await stream.corked(true)?.kind == .serverHung)
        #expect(output.isHung && output.isConnected)
        await #expect(throws: OutputError.self) { try await output.devices() }
        server.process.signal(SIGCONT)
        while output.isHung { await LoopThread.turns(1) }
        let timing = try await stream.timing()
        #expect(!timing.isPlaying && timing.takenFrame > 0)
        #expect(log.events.allSatisfy { $0 != .connection(.hung) })
        output.disconnect()
        server.stop()
    }

    @Test("a question that can wait is not asked during the next urgent one, however late that is answered")
    @PlayerLoop func waitsForEachUrgentAnswer() async {
        let server = await SoundServer.pulseAudio([TestSink("s")])
        let loop = EventLoop.current
        let connection = PulseConnection(PulseMainLoop(loop), server: server.address)
        await withCheckedContinuation { continuation in
            connection.changed = { if case .ready = $0 { continuation.resume() } }
            connection.begin()
        }
        func askUrgently(_ completion: @escaping PulseRequest.Completion) {
            connection.send(
                isUrgent: true, { pa_context_get_server_info(connection.context, serverInfoArrived, $0) }, completion)
        }
        var order: [String] = []
        var late: EventSource?
        await withCheckedContinuation { continuation in
            askUrgently { _ in
                // The calm after this answer lasts 20 ms.
                server.process.signal(SIGSTOP)
                askUrgently { _ in order.append("answer") }
                late = loop.deadline(EventLoop.now.advanced(bySeconds: 0.03)) {
                    order.append("30 ms")
                    server.process.signal(SIGCONT)
                }
            }
            connection.whenCalm {
                order.append("question")
                continuation.resume()
            }
        }
        #expect(order == ["30 ms", "answer", "question"])
        late?.release()
        connection.end()
        server.stop()
    }

    @Test("questions to a hung server without a connection are answered within their second too")
    @PlayerLoop func hungWithoutConnection() async throws {
        let server = await SoundServer.pulseAudio([TestSink("s")])
        server.process.signal(SIGSTOP)
        let output = PulseOutput(EventLoop.current, server: server.address)
        await #expect(throws: OutputError(.serverHung, "the sound server does not answer")) {
            try await output.devices()
        }
        server.process.signal(SIGCONT)
        #expect(try await output.devices().map(\.name) == ["s"])
        server.kill()
        await #expect(throws: OutputError.self) { try await output.devices() }
        #expect(!output.isConnected)
        server.stop()
    }

    @Test("the device can be selected, is left when it goes, and its state is reported")
    @PlayerLoop func devices() async throws {
        let server = await SoundServer.pulseAudio([TestSink("first"), TestSink("second", rewinds: true)])
        let log = OutputLog()
        let output = await connect(server, log)
        let stream = await play(output, log)
        await log.next { _ in output.device?.name == "first" }
        #expect(output.device?.isDefault == true)
        #expect(output.device?.format == .compactDisc)
        #expect(try await output.devices().map(\.name) == ["first", "second"])
        output.selectDevice(named: "second")
        await log.next(.moved)
        await log.next(isDevice("second"))
        await LoopThread.turns(1)
        #expect(try await stream.timing().isPlaying)
        #expect(stream.canRewind)
        server.control("suspend-sink", "second", "1")
        await log.next(.suspended(true))
        #expect(output.device?.state == .suspended)
        #expect(try await stream.timing().isPlaying == false)
        server.control("suspend-sink", "second", "0")
        await log.next(.suspended(false))
        server.control("unload-module", "1")
        await log.next(.moved)
        await log.next(isDevice("first"))
        #expect(try await stream.timing().takenFrame > 0)
        output.selectDevice(named: nil)
        output.disconnect()
        server.stop()
    }

    @Test("without its only device a stream dies, and a new device is reported")
    @PlayerLoop func onlyDevice() async throws {
        let server = await SoundServer.pulseAudio([TestSink("only")])
        let log = OutputLog()
        let output = await connect(server, log)
        _ = await play(output, log)
        await log.next { _ in output.device != nil }
        server.control("unload-module", "0")
        let event = await log.next { if case .failed = $0 { true } else { false } }
        guard case .failed(let error) = event else { return }
        #expect(error.kind == .noDevice)
        await LoopThread.turns(3)
        #expect(output.isConnected && output.device == nil)
        let again = output.openStream(.compactDisc, delegate: log)
        let refused = await log.next { if case .failed = $0 { true } else { false } }
        #expect(refused != .ready)
        again.close()
        _ = server.load(TestSink("new"))
        await log.next(.appeared)
        _ = await play(output, log)
        output.disconnect()
        server.stop()
    }

    @Test("a stream that is closed before it is ready does not stay at the server")
    @PlayerLoop func closedEarly() async throws {
        let server = await SoundServer.pulseAudio([TestSink("s")])
        let log = OutputLog()
        let output = await connect(server, log)
        output.openStream(.compactDisc, delegate: log).close()
        _ = try await output.devices()
        _ = try await output.devices()
        #expect(server.control("list", "short", "sink-inputs") == "")
        #expect(log.count(.ready) == 0)
        // And one whose connection ends first.
        output.openStream(.compactDisc, delegate: log).close()
        output.disconnect()
        server.stop()
    }

    @Test("a device that is not there refuses the stream")
    @PlayerLoop func missingDevice() async {
        let server = await SharedServer.pulseAudio.value
        let log = OutputLog()
        let output = await connect(server, log, sink: "nowhere")
        _ = output.openStream(.compactDisc, delegate: log)
        let event = await log.next { if case .failed = $0 { true } else { false } }
        guard case .failed(let error) = event else { return }
        #expect(error.kind == .noDevice)
        let tooFast = AudioFormat(sampleFormat: .int16, sampleRate: 768_000, channelCount: 2)
        _ = output.openStream(tooFast, delegate: log)
        await log.next(
            .failed(OutputError(.refused, "the sound server takes no audio of 768000 Hz and 2 channels")))
        output.disconnect()
    }

    @Test("volume goes both ways, on the scale that mixers show")
    @PlayerLoop func volume() async throws {
        let server = await SoundServer.pulseAudio([TestSink("s")])
        let log = OutputLog()
        let output = await connect(server, log)
        output.setVolume(0.25, muted: false)
        _ = await play(output, log)
        func shown() -> String { server.control("list", "sink-inputs") }
        #expect(shown().contains("16384 /  25%"))
        #expect(shown().contains("Mute: no"))
        output.setVolume(0.7, muted: true)
        _ = try await output.devices()
        #expect(shown().contains("45875 /  70%"))
        #expect(shown().contains("Mute: yes"))
        let number = String(server.control("list", "short", "sink-inputs").prefix { $0.isNumber })
        server.control("set-sink-input-volume", number, "45%")
        await log.next(.volume(0.45, muted: true))
        server.control("set-sink-input-mute", number, "0")
        await log.next(.volume(0.45, muted: false))
        server.control("set-sink-input-volume", number, "150%")
        await log.next(.volume(1, muted: false))
        let count = log.events.count { if case .volume = $0 { true } else { false } }
        #expect(count == 3)
        output.disconnect()
        server.stop()
    }

    @Test("the title is shown in mixers, the stream says what it is")
    @PlayerLoop func title() async throws {
        let server = await SharedServer.pulseAudio.value
        let log = OutputLog()
        let output = await connect(server, log)
        let stream = await play(output, log)
        stream.setTitle("Ünï\u{7}", artist: "An \"artist\"")
        _ = try await stream.timing()
        let shown = server.control("list", "sink-inputs")
        #expect(shown.contains("media.role = \"music\""))
        #expect(shown.contains("application.name = \"nowplayingd\""))
        #expect(shown.contains("Ünï"))
        output.disconnect()
    }
}

extension PulseFaultTests {
    /// Connects, plays a little, watches, and gives all of it up.
    @PlayerLoop fileprivate static func visit(_ server: SoundServer) async {
        let log = OutputLog()
        let output = PulseOutput(EventLoop.current, server: server.address)
        output.delegate = log
        output.connect()
        await log.next(.connection(nil))
        let stream = output.openStream(.compactDisc, delegate: log)
        await log.next(.ready)
        stream.write([Int16](repeating: 1, count: 100_000))
        stream.setCorked(false) { _ in }
        stream.readTiming { _ in }
        _ = try? await output.devices()
        let watch = ServerWatch(EventLoop.current, server: server.address)
        watch.start {}
        watch.stop()
        output.disconnect()
        _ = try? await output.devices()
    }

    /// Descriptors open in this process.
    fileprivate static func descriptors() -> Int {
        (0..<1024).count { fcntl(Int32($0), F_GETFD) >= 0 }
    }

    @Test("a hundred connections leave no descriptor and no stream behind") func leaksNothing() async {
        await #expect(processExitsWith: .success) {
            LoopThread.start()
            let server = await SoundServer.pulseAudio([TestSink("s")])
            for _ in 0..<3 { await PulseFaultTests.visit(server) }
            let before = PulseFaultTests.descriptors()
            for _ in 0..<100 { await PulseFaultTests.visit(server) }
            #expect(PulseFaultTests.descriptors() == before)
            #expect(server.control("list", "short", "sink-inputs") == "")
            server.stop()
        }
    }
}

import ControlProtocol
import LinuxSystem
import NowPlaying
import TestSupport

/// A daemon on a null sink of its own, which is recorded; the sink goes with the last reference.
final class RecordedSink: Sendable {
    let server: SoundServer
    let daemon: RealDaemon
    let recorder: Recorder
    private let module: String

    /// Loads the sink, starts the daemon on it, and returns when the recording can be trusted. `settings`: its configuration.
    static func start(
        _ sink: TestSink, settings: String = "", in folder: TemporaryFolder = TemporaryFolder()
    ) async -> RecordedSink {
        LoopThread.start()
        let server = await SharedServer.pulseAudio.value
        let module = server.load(sink)
        let file = folder.write(Array(settings.utf8), "settings.conf")
        let daemon = await RealDaemon.start(
            server, sink: sink.name, in: folder, settings.isEmpty ? [] : ["--config", file])
        return RecordedSink(server, daemon, await Recorder.start(server, sink), module)
    }

    private init(_ server: SoundServer, _ daemon: RealDaemon, _ recorder: Recorder, _ module: String) {
        self.server = server
        self.daemon = daemon
        self.recorder = recorder
        self.module = module
    }

    deinit {
        recorder.stop()
        server.control("unload-module", module)
    }

    /// A reading of the time that the daemon and the sound server wait for a processor.
    func waits() -> ProcessorWaits { server.waits(and: [daemon.process.pid]) }

    /// A connection that follows the daemon.
    func follow() -> Client {
        let client = daemon.connect()
        client.call("nowPlaying.subscribe")
        return client
    }

    /// Everything that was recorded, after a little more of it.
    func runs() async -> [PositionCode.Run] {
        await recorder.waitFor(more: 0.3)
        recorder.stop()
        return heard(recorder)
    }

    /// When a frame of the recording was audible, in seconds of CLOCK_MONOTONIC.
    func time(_ frame: Int) -> Double { Double(recorder.time(ofFrame: frame).nanoseconds) / 1e9 }
}

import ControlProtocol
import LinuxSystem
import TestSupport
import Testing

/// A daemon that plays the position code on a server which is killed and started again, recorded before and after.
final class CrashingServer {
    /// One crash: the last sound before it, the first sound after it, and its duration.
    struct Crash {
        /// Lost frames between the last audible frame and the first one after the crash; negative: repeated frames.
        var lost: Int
        /// Seconds by which the published position of the stall is off the last audible frame.
        var deviation: Double
        /// Frames between the one of the stall and the first audible one after it.
        var skipped: Int
        /// Seconds from the server's listening to sound.
        var back: Double
    }

    private static let sink = TestSink("sink")
    let server: SoundServer
    let daemon: RealDaemon
    let client: Client
    private var recorder: Recorder

    /// Starts all and plays the code.
    static func start() async -> CrashingServer {
        LoopThread.start()
        let server = await SoundServer.pulseAudio([sink])
        server.listen()
        let daemon = await RealDaemon.start(server, isLate: true)
        return CrashingServer(server, daemon, await Recorder.start(server, sink))
    }

    private init(_ server: SoundServer, _ daemon: RealDaemon, _ recorder: Recorder) {
        self.server = server
        self.daemon = daemon
        self.recorder = recorder
        client = daemon.connect()
        client.call("nowPlaying.subscribe")
        let file = daemon.folder.codeFLAC("code.flac", from: 0, count: 44100 * Campaign.times(20, long: 300))
        client.call("play", ["uri": .string(file)])
    }

    /// Plays so many seconds, kills the server, starts it again and plays on.
    func crash(after seconds: Double) async throws -> Crash {
        await recorder.waitFor(more: seconds)
        server.kill()
        let stall = client.event("stall")
        recorder.stop()
        let before = try #require(await recorder.runs().last, "nothing was recorded")
        let last = before.frame + before.count
        await server.startPulseAudio([Self.sink])
        recorder = await Recorder.start(server, Self.sink)
        let up = now()
        server.listen()
        let again = client.event("unstall")
        await recorder.waitFor(more: 0.3)
        let first = try #require(await recorder.runs().first, "nothing was recorded after").frame
        return Crash(
            lost: first - last, deviation: stall.elapsed - Double(last) / 44100,
            skipped: first - Int((stall.elapsed * 44100).rounded()), back: again.monotonic - up)
    }

    /// Ends all.
    func stop() {
        recorder.stop()
        #expect(daemon.stop() == 0)
        server.stop()
    }
}

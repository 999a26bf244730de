import ConfigurationFiles
import Glibc
import LinuxSystem
import NowPlaying

/// The parts of the daemon while it serves.
@PlayerLoop final class RunningDaemon {
    private let loop: EventLoop
    private let server: ControlServer
    private let handler: any MethodHandler
    private let options: DaemonOptions
    private var configuration: Configuration
    private var signals: [EventSource] = []
    private var isEnding = false

    init(
        _ loop: EventLoop, _ socket: ControlSocket, _ serverOptions: ControlServerOptions,
        _ configuration: Configuration, _ options: DaemonOptions, stateDirectory: String,
        _ makeHandler: @PlayerLoop (DaemonContext) throws(DaemonFailure) -> any MethodHandler
    ) throws(DaemonFailure) {
        self.loop = loop
        self.configuration = configuration
        self.options = options
        var state = NowPlayingState(anchor: PlaybackAnchor(elapsed: 0, rate: 0, monotonic: EventLoop.now))
        state.instance = Self.makeInstance()
        let server = ControlServer(loop, listener: socket.descriptor, options: serverOptions, state: state)
        self.server = server
        handler = try makeHandler(
            DaemonContext(
                loop: loop, configuration: configuration, instance: state.instance, stateDirectory: stateDirectory,
                encoder: server.encoder, publish: { server.publish($0) },
                holdRequests: { $0 ? server.holdRequests() : server.releaseRequests() }))
        server.begin(handler) { [unowned self] in end() }
        for number in [SIGTERM, SIGINT] {
            if let source = loop.signal(number, { [unowned self] in end() }) { signals.append(source) }
        }
        if let source = loop.signal(SIGHUP, { [unowned self] in reload() }) { signals.append(source) }
        ServiceManager.notify("READY=1")
        Log.info("ready")
        loop.later { ProgramPages.giveBack() }
    }

    /// A name of this run that no other has: 64 random bits.
    private static func makeInstance() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = String(generator.next() as UInt64, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private func end() {
        guard !isEnding else { return }
        isEnding = true
        ServiceManager.notify("STOPPING=1")
        Log.info("ending")
        // Not in the middle of a client's request.
        loop.later { [self] in
            handler.finish()
            server.end()
            loop.exit(0)
        }
    }

    /// SIGHUP: takes over the settings that may change while the daemon runs.
    private func reload() {
        do throws(ConfigurationError) {
            let fresh = options.applied(to: try ConfigurationFile.load(options.configurationFile))
            configuration.reload(from: fresh)
            Log.setLevel(configuration.logLevel)
            server.setMediaRoots(MediaRoots(configuration.mediaRoots))
            Log.info("the configuration was read again")
        } catch {
            for message in error.messages { Log.error("the configuration stays as it was: \(message)") }
        }
    }
}

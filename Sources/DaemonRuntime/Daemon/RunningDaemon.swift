import ArtworkLookup
import AudioDecoders
import ConfigurationFiles
import ControlProtocol
import ControlServer
import DaemonConfiguration
import Glibc
import LinuxSystem
import NowPlaying
import PulseOutput
import Sessions

/// The parts of the daemon while it serves.
@PlayerLoop final class RunningDaemon: DaemonControl {
    /// Makes the sessions of a daemon.
    typealias HandlerMaker = @PlayerLoop (SessionContext) throws(DaemonFailure) -> any MethodHandler

    private let loop: EventLoop
    private let server: ControlServer
    private let handler: any MethodHandler
    private let options: DaemonOptions
    private let settings: LiveConfiguration
    private let watch = DaemonWatch()
    /// Contents of the files at the last read.
    private var contents: ConfigurationFile.Contents
    private let workers: Workers
    private var signals: [EventSource] = []
    /// Releases the memory of the start, once the first client has its answer.
    private var tidying: EventSource?
    private var isEnding = false

    /// Makes all parts and accepts clients, on the running loop. Throws the failure of `makeHandler`.
    init(
        _ loop: EventLoop, _ socket: ControlSocket, _ background: BackgroundListener?,
        _ serverOptions: ControlServerOptions, _ encoder: StateEncoder,
        _ configuration: Configuration, _ contents: ConfigurationFile.Contents, _ options: DaemonOptions,
        _ paths: DaemonPaths, _ makeHandler: HandlerMaker
    ) throws(DaemonFailure) {
        self.loop = loop
        settings = LiveConfiguration(configuration)
        self.contents = contents
        workers = Workers(loop, name: "configuration")
        self.options = options
        var state = NowPlayingState(anchor: PlaybackAnchor(elapsed: 0, rate: 0, monotonic: EventLoop.now))
        state.instance = Self.makeInstance()
        server = ControlServer(
            loop, listener: socket.descriptor, methods: Catalogue.table, options: serverOptions)
        let board = StateBoard(server, encoder, state: state, observer: watch)
        handler = try makeHandler(
            SessionContext(
                loop: loop, settings: settings, instance: state.instance, stateDirectory: paths.stateDirectory,
                cacheDirectory: paths.cacheDirectory,
                runtimeDirectory: FilePath(paths.socket.utf8)?.folder.text ?? "/run",
                board: board, server: server))
        let greeting = RequestRouter.Greeting(
            version: serverOptions.version, instance: state.instance,
            animatedArtwork: configuration.showsAnimatedArtwork ? AnimatedShape.allCases.map(\.rawValue) : [])
        server.begin(
            RequestRouter(server, board, handler, settings, greeting, control: self), background: background?.descriptor
        )
        for number in [SIGTERM, SIGINT] {
            if let source = loop.signal(number, { [unowned self] in quit() }) { signals.append(source) }
        }
        let ourselves = Originator(client: Product.name, pid: getpid(), uid: geteuid(), via: "signal")
        let reloading = loop.signal(SIGHUP) { [unowned self] in reload(by: ourselves) { _ in } }
        if let reloading { signals.append(reloading) }
        if socket.isHandedOver {
            watchUse()
        } else if configuration.idleExit != nil {
            Log.warning(
                "idle-exit has no effect: without socket activation nothing would restart the daemon")
        }
        ServiceManager.notify("READY=1")
        Log.info("ready")
        let usesPulse = configuration.output == .pulse
        tidying = loop.deadline(EventLoop.now.advanced(bySeconds: 0.5)) { [unowned self] in
            tidying = nil
            // Neither the first answer nor the first item waits for the libraries.
            _ = DetachedThread.start("libraries") {
                if usesPulse, !PulseLibrary.open() { Log.error(PulseLibrary.advice, LogFields(.soundLibraryMissing)) }
                LateLibraries.openUsual()
            }
            loop.giveBackPages()
        }
    }

    /// A unique name of this run: 64 random bits.
    private static func makeInstance() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = String(generator.next() as UInt64, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private func watchUse() {
        let questions = IdleExit.Questions(
            isNeeded: { [unowned self] in server.userCount > 0 || handler.isAtWork },
            isSettling: { [unowned self] in server.isHoldingRequests || server.isAskedFor },
            wouldLose: { [unowned self] in handler.wouldLose })
        let idleExit = IdleExit(loop, questions) { [unowned self] in
            Log.info("idle: the daemon ends (idle-exit)")
            quit()
        }
        watch.begin(idleExit, seconds: settings.current.idleExit)
    }

    func clientCountChanged() { watch.clientCountChanged() }

    func quit() {
        guard !isEnding else { return }
        isEnding = true
        ServiceManager.notify("STOPPING=1")
        Log.info("ending")
        // After the client's present request.
        loop.later { [self] in
            watch.endIdleExit()
            handler.finish()
            server.end()
            loop.exit(0)
        }
    }

    /// Reads the configuration again, on another thread, and applies its reloadable settings.
    func reload(by: Originator, _ answer: @escaping Answer) {
        ServiceManager.notify("RELOADING=1")
        let path = options.configurationFile
        workers.submit {
            Result { () throws(ConfigurationError) in try ConfigurationFile.read(path) }
        } _: { [weak self] result in
            ServiceManager.notify("READY=1")
            switch result {
            case .failure(let error):
                for message in error.messages {
                    Log.error("configuration not reloaded: \(message)", LogFields(.configurationInvalid))
                }
                let message = "configuration not reloaded: " + error.messages.joined(separator: "; ")
                answer(.failure(.commandFailed(.configuration, message)))
            case .success(let fresh):
                guard let self else { return }
                answer(.success(take(fresh, by)))
            }
        }
    }

    /// Applies reloadable settings; returns the changed ones, and those that need a restart.
    private func take(_ fresh: ConfigurationFile.Contents, _ by: Originator) -> JSONValue {
        let changes = contents.changes(to: fresh)
        contents = fresh
        let before = settings.current
        settings.reload(from: options.applied(to: fresh.configuration))
        let configuration = settings.current
        Log.setLevel(configuration.logLevel)
        ConfigurationFile.warn(of: fresh)
        watch.setIdleLimit(configuration.idleExit)
        handler.configurationChanged(from: before, by: by)
        Log.info("configuration reloaded")
        let (changed, waiting) = (changes.filter(\.isReloadable), changes.filter { !$0.isReloadable })
        if !waiting.isEmpty {
            let names = waiting.map(\.name).joined(separator: ", ")
            Log.warning("these settings take effect after a restart: \(names)")
        }
        return [
            "changed": .array(changed.map { .string($0.name) }), "restart": .array(waiting.map { .string($0.name) }),
        ]
    }
}

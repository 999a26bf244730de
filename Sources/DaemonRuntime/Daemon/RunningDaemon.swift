import ConfigurationFiles
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying

/// The parts of the daemon while it serves.
@PlayerLoop final class RunningDaemon {
    private let loop: EventLoop
    private let server: ControlServer
    private let handler: any MethodHandler
    private let options: DaemonOptions
    private let settings: LiveConfiguration
    /// Content of the files at the last read.
    private var contents: ConfigurationFile.Contents
    private let workers: Workers
    private var signals: [EventSource] = []
    /// Gives back what only the start needed, once the first client has had its answer.
    private var tidying: EventSource?
    private var isEnding = false
    private let status = ServiceStatus()
    /// Nil: nobody would start the daemon again.
    private var idleExit: IdleExit?

    /// Makes all parts and lets clients in: on the loop, which runs. Throws what `makeHandler` throws.
    init(
        _ loop: EventLoop, _ socket: ControlSocket, _ serverOptions: ControlServerOptions,
        _ configuration: Configuration, _ contents: ConfigurationFile.Contents, _ options: DaemonOptions,
        _ paths: DaemonPaths,
        _ makeHandler: @PlayerLoop (DaemonContext) throws(DaemonFailure) -> any MethodHandler
    ) throws(DaemonFailure) {
        self.loop = loop
        let settings = LiveConfiguration(configuration)
        self.settings = settings
        self.contents = contents
        workers = Workers(loop, name: "configuration")
        self.options = options
        var state = NowPlayingState(anchor: PlaybackAnchor(elapsed: 0, rate: 0, monotonic: EventLoop.now))
        state.instance = Self.makeInstance()
        let server = ControlServer(loop, listener: socket.descriptor, options: serverOptions, state: state)
        self.server = server
        let status = status
        handler = try makeHandler(
            DaemonContext(
                loop: loop, settings: settings, instance: state.instance,
                stateDirectory: paths.stateDirectory, cacheDirectory: paths.cacheDirectory, encoder: server.encoder,
                publish: { state in
                    server.publish(state)
                    if state.session == server.state.session { status.show(state) }
                    server.onUse?()
                },
                activate: { session in
                    server.activate(session)
                    status.show(server.state)
                },
                hideSession: { server.hideSession($0) },
                forgetSession: { server.forgetSession($0) },
                callClient: { server.call($0, $1, $2, within: $3, $4) },
                holdRequests: { $0 ? server.holdRequests() : server.releaseRequests() }))
        server.begin(handler) { [unowned self] in end() }
        for number in [SIGTERM, SIGINT] {
            if let source = loop.signal(number, { [unowned self] in end() }) { signals.append(source) }
        }
        let ourselves = Originator(client: Product.name, pid: getpid(), uid: geteuid(), via: "signal")
        let reloading = loop.signal(SIGHUP) { [unowned self] in reload(ourselves) { _ in } }
        if let reloading { signals.append(reloading) }
        server.reload = { [unowned self] in reload($0, $1) }
        if socket.isHandedOver {
            watchUse()
        } else if configuration.idleExit != nil {
            Log.warning(
                "idle-exit has no effect: without socket activation nothing would restart the daemon")
        }
        ServiceManager.notify("READY=1")
        Log.info("ready")
        tidying = loop.deadline(EventLoop.now.advanced(bySeconds: 0.5)) { [unowned self] in
            tidying = nil
            ProgramPages.giveBack()
        }
    }

    /// A name of this run that no other has: 64 random bits.
    private static func makeInstance() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = String(generator.next() as UInt64, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private func watchUse() {
        let questions = IdleExit.Questions(
            isNeeded: { [unowned self] in server.clientCount > 0 || handler.isAtWork },
            isSettling: { [unowned self] in server.isHoldingRequests || server.isAskedFor },
            wouldLose: { [unowned self] in handler.wouldLose })
        let idleExit = IdleExit(loop, questions) { [unowned self] in
            Log.info("idle: the daemon ends (idle-exit)")
            end()
        }
        self.idleExit = idleExit
        server.onUse = { [unowned idleExit] in idleExit.consider() }
        idleExit.seconds = settings.current.idleExit
    }

    private func end() {
        guard !isEnding else { return }
        isEnding = true
        ServiceManager.notify("STOPPING=1")
        Log.info("ending")
        // Not in the middle of a client's request.
        loop.later { [self] in
            idleExit = nil
            server.onUse = nil
            handler.finish()
            server.end()
            loop.exit(0)
        }
    }

    /// Reads the configuration again, on another thread, and takes over the settings that may change while the daemon runs.
    private func reload(_ by: Originator, _ answer: @escaping @PlayerLoop (MethodResult) -> Void) {
        ServiceManager.notify("RELOADING=1")
        let path = options.configurationFile
        workers.submit {
            Result { () throws(ConfigurationError) in try ConfigurationFile.read(path) }
        } _: { [weak self] result in
            ServiceManager.notify("READY=1")
            switch result {
            case .failure(let error):
                for message in error.messages { Log.error("configuration not reloaded: \(message)") }
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
        server.setMediaRoots(MediaRoots(configuration.mediaRoots))
        idleExit?.seconds = configuration.idleExit
        handler.take(configuration, instead: before, by: by)
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

import AudioCore
import ControlProtocol
import ControlServer
import DaemonConfiguration
import Dispatch
import Glibc
import LinuxSystem
import NowPlaying
import Sessions
import Synchronization
import TestSupport

@testable import DaemonRuntime

/// A control server on the loop, whose handler says yes to everything.
final class FuzzServer: Sendable {
    /// Started when it is first wanted, and never ended.
    static let shared = FuzzServer()

    /// Path of its socket.
    let path: String
    private let folder = TemporaryFolder()
    private let server = Mutex<ControlServer?>(nil)

    private init() {
        path = folder.path("control.sock")
        LoopThread.start()
        let isReady = DispatchSemaphore(value: 0)
        // It begins on the loop: all threads of the tests may be waiting for it here.
        Task { @PlayerLoop [self] in
            guard let listener = try? UnixSocket.listen(path) else { preconditionFailure("no socket") }
            var state = NowPlayingState(
                anchor: PlaybackAnchor(elapsed: 0, rate: 0, monotonic: MonotonicTime(nanoseconds: 1)))
            state.instance = "0123456789abcdef"
            state.sequence = 1
            let options = ControlServerOptions(
                roles: PeerRoles(ownUID: geteuid()), descriptorLimit: DescriptorLimit.raise(to: 4096), version: "1")
            let server = ControlServer(
                EventLoop.current, listener: listener, methods: Catalogue.table, options: options)
            let board = StateBoard(server, StateEncoder(bootID: "b"), state: state, observer: AgreeableHandler.shared)
            let greeting = RequestRouter.Greeting(version: "1", instance: state.instance, animatedArtwork: [])
            server.begin(
                RequestRouter(
                    server, board, AgreeableHandler.shared, LiveConfiguration(Configuration()), greeting,
                    control: AgreeableHandler.shared))
            self.server.withLock { $0 = server }
            isReady.signal()
        }
        isReady.wait()
    }
}

/// Says yes.
@PlayerLoop private final class AgreeableHandler: MethodHandler, DaemonControl, BoardObserver {
    static let shared = AgreeableHandler()
    var isAtWork: Bool { false }
    var wouldLose: Bool { false }

    func perform(_ request: MethodRequest, _ answer: @escaping Answer) {
        answer(.success([:]))
    }

    nonisolated func refusal(of source: MediaSource, at position: Double?, _ abandoned: AbandonFlag) -> RPCError? {
        nil
    }

    func clientGone(_ client: ClientIdentity) {}

    func configurationChanged(from before: Configuration, by: Originator) {}

    func reload(by: Originator, _ answer: @escaping Answer) { answer(.success([:])) }

    func quit() {}

    func clientCountChanged() {}

    func statePublished() {}

    func activeStateChanged(_ state: NowPlayingState) {}

    func finish() {}
}

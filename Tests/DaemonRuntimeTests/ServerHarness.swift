import AudioCore
import ControlProtocol
import ControlServer
import DaemonConfiguration
import DaemonRuntime
import Glibc
import LinuxSystem
import NowPlaying
import Sessions
import TestSupport

/// Takes the server's requests; answers at once, or leaves the answer to the test.
@PlayerLoop final class RecordingHandler: MethodHandler {
    var requests: [MethodRequest] = []
    var held: [@PlayerLoop (MethodResult) -> Void] = []
    var gone: [ClientIdentity] = []
    /// Nil: the answer is held.
    var result: @PlayerLoop (MethodRequest) -> MethodResult? = { _ in .success([:]) }

    func perform(_ request: MethodRequest, _ answer: @escaping Answer) {
        requests.append(request)
        if let result = result(request) { answer(result) } else { held.append(answer) }
    }

    /// Sessions that are active when requests are read, the next one first; empty: there is only one session.
    var active: [String] = []

    func session(for method: MethodName, _ parameters: JSONObject) -> String? {
        active.isEmpty ? nil : active.removeFirst()
    }

    nonisolated func refusal(
        of source: MediaSource, at position: Double?, _ abandoned: AbandonFlag
    ) -> RPCError? {
        source.uri.hasSuffix(".broken") ? .noSuchContent("broken", uris: [source.uri]) : nil
    }

    func clientGone(_ client: ClientIdentity) { gone.append(client) }

    func configurationChanged(from before: Configuration, by: Originator) {}

    var isAtWork = false
    var wouldLose = false

    func finish() {}
}

/// The daemon around a test: nothing to reload or to end.
@PlayerLoop final class StillDaemon: DaemonControl, BoardObserver {
    func reload(by: Originator, _ answer: @escaping Answer) {
        answer(.failure(.commandFailed(.unavailable, "there is no configuration")))
    }

    func quit() {}
    func clientCountChanged() {}
    func statePublished() {}
    func activeStateChanged(_ state: NowPlayingState) {}
}

/// A control server with the daemon's methods on a socket of its own, on the loop of the test process.
final class ServerHarness: Sendable {
    let folder = TemporaryFolder()
    let path: String
    let server: ControlServer
    let board: StateBoard
    let handler: RecordingHandler
    private let daemon: StillDaemon

    init(
        roles: PeerRoles = PeerRoles(ownUID: geteuid()), roots: [String] = [], outputRole: Role = .control
    ) async throws {
        path = folder.path + "/control.sock"
        chmod(folder.path, 0o755)
        let path = path
        (server, board, handler, daemon) = try await LoopThread.run {
            let listener = try UnixSocket.listen(path)
            var state = NowPlayingState(
                anchor: PlaybackAnchor(elapsed: 0, rate: 0, monotonic: MonotonicTime(nanoseconds: 1)))
            state.instance = "0123456789abcdef"
            state.sequence = 1
            let options = ControlServerOptions(
                roles: roles, descriptorLimit: DescriptorLimit.raise(to: 16384), version: "1.2.3")
            let server = ControlServer(
                EventLoop.current, listener: listener, methods: Catalogue.table, options: options)
            let daemon = StillDaemon()
            let board = StateBoard(server, StateEncoder(bootID: "boot"), state: state, observer: daemon)
            let handler = RecordingHandler()
            var configuration = Configuration()
            configuration.mediaRoots = roots
            configuration.outputRole = outputRole
            let greeting = RequestRouter.Greeting(version: "1.2.3", instance: state.instance, animatedArtwork: [])
            server.begin(
                RequestRouter(
                    server, board, handler, LiveConfiguration(configuration), greeting, control: daemon))
            return (server, board, handler, daemon)
        }
    }

    /// Publishes the next state.
    func publish(_ cause: Cause) async {
        let board = board
        await LoopThread.run {
            var state = board.state
            state.sequence += 1
            state.cause = cause
            board.publish(state)
        }
    }

    func end() async {
        let server = server
        await LoopThread.run { server.end() }
    }

    /// Waits until something holds on the loop, looking after each of its turns; false: it did not within ten seconds.
    func until(_ condition: @escaping @PlayerLoop @Sendable () -> Bool) async -> Bool {
        let end = EventLoop.now.advanced(bySeconds: 60)
        while EventLoop.now < end {
            if await LoopThread.run({ condition() }) { return true }
            await Task.yield()
        }
        return false
    }
}

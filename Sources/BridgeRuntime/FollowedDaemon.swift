import CLinux
package import ControlProtocol
package import LinuxSystem
import NowPlaying
package import NowPlayingClient

/// A bridge's connection to the daemon, across restarts of the daemon: states, and calls. It wakes for the daemon's
/// messages, and for its return.
@PlayerLoop package final class FollowedDaemon {
    /// Called with each state; the first after each connection has the cause `snapshot`.
    package var onState: (@PlayerLoop (StateView) -> Void)?
    /// Called when the daemon has closed the connection.
    package var onLoss: (@PlayerLoop () -> Void)?
    /// Called when the daemon cannot be followed any more.
    package var onFailure: (@PlayerLoop (ClientError) -> Void)?
    /// True if a state has arrived since the last loss of the daemon.
    package private(set) var isThere = false

    /// Possible paths of its socket, in the order of the attempts.
    package let paths: [String]

    /// Seconds of a turn.
    private static let turn = 0.001

    private let loop: EventLoop
    private let follower: Follower
    private var source: EventSource?
    private var retry: EventSource?

    /// Waits for a daemon at one of these paths. Handlers run from the next turn of the loop on. `session`: the session to
    /// follow, which must exist; nil: the active session.
    package init(_ loop: EventLoop, paths: [String], session: String? = nil) throws(ClientError) {
        self.loop = loop
        self.paths = paths
        follower = try Follower(waitingFor: paths, session: session)
        source = loop.watch(try follower.loopDescriptor(), UInt32(EPOLLIN.rawValue)) { [unowned self] _ in serve() }
        loop.later { [weak self] in self?.serve() }
    }

    /// Calls a method. `caller` gets the whole answer, with `result` or `error`; nil: no daemon is there.
    package func call(
        _ method: String, _ parameters: JSONValue? = nil, _ caller: @escaping @PlayerLoop (JSONValue?) -> Void
    ) {
        do {
            try follower.call(method, parameters) { answer in PlayerLoop.assumeIsolated { caller(answer) } }
        } catch { onFailure?(error) }
    }

    /// Takes messages for one turn, and the others in later turns of the loop.
    private func serve() {
        let end = EventLoop.now.advanced(bySeconds: Self.turn)
        do {
            while let event = try follower.take(until: end) {
                switch event {
                case .state(let state):
                    isThere = true
                    onState?(state)
                case .disconnected:
                    isThere = false
                    onLoss?()
                case .deadline, .readerGone: break
                }
            }
        } catch {
            source?.release()
            retry?.release()
            onFailure?(error)
            return
        }
        retry = follower.due.map { due in loop.deadline(due) { [unowned self] in serve() } }
        if follower.isInterrupted { loop.later { [weak self] in self?.serve() } }
    }
}

package import ControlProtocol
import Glibc
package import NowPlaying

/// Follows the published state over restarts of the daemon, with a state for every key event. Wakes only on events.
/// Belongs to one thread, which either waits in `next` or serves `loopDescriptor` and `take` in a loop of its own.
package final class Follower {
    /// Reason for the return of `next`.
    package enum Event: Sendable {
        /// A state; the first after each connection has the cause `snapshot`.
        case state(StateView)
        /// The daemon closed the connection. The follower waits for its return.
        case disconnected
        /// The deadline has passed.
        case deadline
        /// The other end of the descriptor given as `reader` was closed.
        case readerGone
    }

    private let paths: [String]
    /// The session to follow; nil: the active one.
    private let session: String?
    /// Languages of the reader; nil: unspecified.
    private let languages: JSONValue?
    private var connection: Connection? { didSet { rearm() } }
    private var subscription: Int64 = 0
    /// Callbacks for the answers to requests of this connection.
    private var callers: [Int64: (JSONValue?) -> Void] = [:]
    private var poller: LoopDescriptor?
    private var watch: SocketWatch? { didSet { rearm() } }
    /// Instant of the next attempt to connect, and number of failed attempts since the last event.
    private var retry: MonotonicTime?
    private var attempts = 0
    /// Connections in a row that ended before their first state.
    private var fruitless = 0

    /// Maximum number of attempts, after 5 ms, 10 ms, … 640 ms: a new socket accepts connections only a moment after
    /// its creation.
    private static let maximumAttempts = 8

    /// Connects and subscribes. Throws `noDaemon` if no daemon runs.
    package init(_ paths: [String]) throws(ClientError) {
        self.paths = paths
        session = nil
        languages = nil
        try subscribe(try Connection(firstOf: paths))
    }

    /// Follows on a connection that is also used for calls; `paths` serve to find the daemon again. `session`: the
    /// session to follow; nil: the active one. `languages`: languages of the reader, the preferred one first.
    package init(
        _ connection: Connection, paths: [String], session: String? = nil, languages: JSONValue? = nil
    ) throws(ClientError) {
        self.paths = paths
        self.session = session
        self.languages = languages
        try subscribe(connection)
    }

    /// Waits for a daemon that does not run yet: its first state shows that it has started. `session`: the session to
    /// follow; nil: the active one.
    package init(waitingFor paths: [String], session: String? = nil) throws(ClientError) {
        self.paths = paths
        self.session = session
        languages = nil
        watch = try SocketWatch(paths)
        try reconnect()
    }

    /// Waits for the next event. `deadline`: instant of an event `deadline`. `reader`: one of our descriptors, such as
    /// standard output; if the other side closes it, that is an event. Throws if the daemon refuses.
    package func next(deadline: MonotonicTime? = nil, reader: Int32? = nil) throws(ClientError) -> Event {
        while true {
            if let event = try take() { return event }
            if let deadline, deadline <= MonotonicTime.now { return .deadline }
            let due = [deadline, retry].compactMap { $0 }.min()
            var waits = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: reader ?? -1, events: 0, revents: 0),
            ]
            if poll(&waits, 2, due?.millisecondsLeft ?? -1) < 0, errno != EINTR {
                throw .system("poll", errno)
            }
            if waits[1].revents != 0 { return .readerGone }
        }
    }

    // MARK: In a loop

    /// A descriptor that stays the same while the follower lives; readable when `take` has work.
    package func loopDescriptor() throws(ClientError) -> Int32 {
        if let poller { return poller.number }
        let made = try LoopDescriptor()
        poller = made
        rearm()
        return made.number
    }

    /// Instant at which `take` must be called even if the descriptor is not readable; nil: never.
    package var due: MonotonicTime? { retry }

    /// True if the last `take` ended at its instant. More messages may have arrived.
    package private(set) var isInterrupted = false

    /// The next event that is available without waiting; nil: there is none yet. `end`: instant after which it passes on no
    /// further answers. Throws if the daemon refuses.
    package func take(until end: MonotonicTime? = nil) throws(ClientError) -> Event? {
        isInterrupted = false
        while true {
            if let state = try bufferedState(until: end) { return .state(state) }
            if isInterrupted { return nil }
            if let retry, retry <= MonotonicTime.now { try reconnect() }
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&wait, 1, 0) > 0 else { return nil }
            if let connection {
                if try connection.read() { continue }
                try lost()
                return .disconnected
            }
            if watch?.takeEvents() == true {
                attempts = 0
                try reconnect()
            }
        }
    }

    /// Calls a method of the followed daemon. `take` passes the whole answer to `caller`; nil: the connection was lost
    /// before the answer, or there is none.
    package func call(
        _ method: String, _ parameters: JSONValue? = nil, _ caller: @escaping (JSONValue?) -> Void
    ) throws(ClientError) {
        guard let connection else { return caller(nil) }
        do { callers[try connection.request(method, parameters)] = caller } catch .connectionLost { caller(nil) }
    }

    private var descriptor: Int32 { connection?.descriptor ?? watch?.descriptor ?? -1 }

    private func rearm() { poller?.watch(descriptor) }

    // MARK: Reading

    private func bufferedState(until end: MonotonicTime?) throws(ClientError) -> StateView? {
        while let message = try bufferedMessage() {
            if let state = try take(message) { return StateView(state) }
            if let end, end <= MonotonicTime.now {
                isInterrupted = true
                return nil
            }
        }
        return nil
    }

    /// Passes an answer to its caller. Returns the state in a message; nil: it has none.
    private func take(_ message: JSONValue) throws(ClientError) -> JSONValue? {
        if message["method"]?.stringValue == "nowPlaying.changed", let state = message["params"] { return state }
        guard let id = message["id"]?.integerValue else { return nil }
        if let caller = callers.removeValue(forKey: id) { caller(message) }
        guard id == subscription else { return nil }
        if let error = message["error"] { throw .refused(RemoteFailure(error)) }
        fruitless = 0
        return message["result"]
    }

    private func bufferedMessage() throws(ClientError) -> JSONValue? {
        guard let connection else { return nil }
        if let message = connection.notification() { return message }
        guard let line = connection.bufferedLine() else { return nil }
        return line.isEmpty ? .null : try Connection.parse(line)
    }

    // MARK: Connecting

    private func subscribe(_ connection: Connection) throws(ClientError) {
        var parameters = JSONObject()
        parameters["session"] = session.map(JSONValue.string)
        parameters["languages"] = languages
        subscription = try connection.request(
            "nowPlaying.subscribe", parameters.members.isEmpty ? nil : .object(parameters))
        retry = nil
        self.connection = connection
        watch = nil
    }

    private func lost() throws(ClientError) {
        connection = nil
        let unanswered = callers.values
        callers = [:]
        for caller in unanswered { caller(nil) }
        fruitless += 1
        guard fruitless < Follower.maximumAttempts else { throw .connectionLost }
        attempts = fruitless - 1
        watch = try SocketWatch(paths)
        // The daemon may be back already. A daemon that closes at once again gets the next attempt after a pause.
        if fruitless == 1 { try reconnect() } else { postpone() }
    }

    private func reconnect() throws(ClientError) {
        retry = nil
        do {
            try subscribe(try Connection(firstOf: paths))
        } catch .noDaemon(let failures) {
            // The socket exists but does not accept connections at the moment: no event announces the change.
            if failures.contains(where: { $0.code == ECONNREFUSED || $0.code == EAGAIN }) { postpone() }
        } catch .connectionLost {
            try lost()
        }
    }

    private func postpone() {
        guard attempts < Follower.maximumAttempts else { return }
        retry = MonotonicTime.now.advanced(bySeconds: 0.005 * Double(1 << attempts))
        attempts += 1
    }
}

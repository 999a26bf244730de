import ControlProtocol
import Glibc
package import LinuxSystem
package import NowPlaying

/// Options of the control server.
package struct ControlServerOptions: Sendable {
    package var roles: PeerRoles
    package var mediaRoots: MediaRoots
    /// Entries of the queue, at most.
    package var queueLimit = QueueLimit.items
    /// Descriptors that the process may have open.
    package var descriptorLimit: Int
    /// Version of the daemon.
    package var version: String
    /// Identity of this boot of the host.
    package var bootID: String
    /// Shapes of animated artwork that are published.
    package var animatedArtwork: [String] = []

    /// Options, by their parts.
    package init(
        roles: PeerRoles, mediaRoots: MediaRoots, descriptorLimit: Int, version: String, bootID: String
    ) {
        self.roles = roles
        self.mediaRoots = mediaRoots
        self.descriptorLimit = descriptorLimit
        self.version = version
        self.bootID = bootID
    }
}

/// Serves the control socket: accepts connections, and sends each published state to the subscribers.
@PlayerLoop package final class ControlServer {
    /// Connections at once.
    package nonisolated static let maximumClients = 4096
    /// Descriptors that are kept for everything but connections.
    static let reservedDescriptors = 64
    /// Bytes of lines without an end over all clients.
    package nonisolated static let maximumUnfinishedBytes = 16 << 20
    /// Bytes taken from a connection at once, so that the others get their turn.
    static let readBytes = 32 << 10

    /// Reads the configuration, and answers what changed.
    package typealias Reload =
        @PlayerLoop (
            _ by: Originator, _ answer: @escaping @PlayerLoop (MethodResult) -> Void
        ) -> Void

    let loop: EventLoop
    private(set) var options: ControlServerOptions
    let encoder: StateEncoder
    let workers: Workers
    let farewells: Farewells
    /// Carries out what the server does not answer itself; nil before `begin`.
    private(set) var handler: (any MethodHandler)?
    private var quit: (@PlayerLoop () -> Void)?
    /// Reads the configuration again; nil: there is none.
    package var reload: Reload?
    /// Called when a client has come or gone.
    package var onUse: (@PlayerLoop () -> Void)?
    /// The last pause.
    private(set) var lastPause: PauseRecord?
    /// Requests that wait; nil: none has to.
    private var held: [@PlayerLoop () -> Void]?
    private let listener: Int32
    private var listening: EventSource?
    private var retry: EventSource?
    /// Clients, by their numbers.
    private(set) var connections: [Int: Connection] = [:]
    private var connectionsOfForeigner: [UInt32: Int] = [:]
    private var lastNumber = 0
    /// Connections at once of one user that is not the daemon's own.
    package var maximumOfForeigner = maximumClients / 2
    private var subscribers: [Connection] = []
    /// The newest events, which not every subscriber has got yet.
    private var unsent: [PublishedEvent] = []
    /// Number of events so far, which is the newest one's number.
    private(set) var eventCount = 0
    /// Events of one turn of the loop above which they are sent at once.
    private static let maximumUnsent = 64
    /// Bytes that wait in the input buffers of all connections.
    package internal(set) var unfinishedBytes = 0
    /// Buffer for arriving bytes of every connection.
    let arrivals = UnsafeMutableRawBufferPointer.allocate(byteCount: readBytes, alignment: 16)
    /// The last published state of the active session, and as JSON text.
    package private(set) var state: NowPlayingState
    private(set) var encodedState: [UInt8]
    /// The same of the other sessions, by their names.
    private var others: [String: (state: NowPlayingState, encoded: [UInt8])] = [:]
    /// Sessions that are visible only to clients that name them.
    private var hidden: Set<String> = []
    /// The answer of `rpc.discover`, once somebody asked.
    private(set) lazy var discovery: [UInt8] = {
        var writer = JSONWriter()
        writer.value(Catalogue.table.discovery(version: options.version))
        return writer.bytes
    }()

    /// A server on a listening socket, which becomes the server's; `state` is its state until the first `publish`.
    package init(_ loop: EventLoop, listener: Int32, options: ControlServerOptions, state: NowPlayingState) {
        self.loop = loop
        self.listener = listener
        self.options = options
        self.state = state
        encoder = StateEncoder(bootID: options.bootID)
        encodedState = encoder.encode(state)
        workers = Workers(loop)
        farewells = Farewells(loop)
    }

    /// Starts to take connections. `quit` is called when a client wants the daemon to end.
    package func begin(_ handler: any MethodHandler, quit: @escaping @PlayerLoop () -> Void) {
        self.handler = handler
        self.quit = quit
        listening = loop.watch(listener, Events.readable) { [unowned self] _ in accept() }
    }

    /// Ends all connections and closes the listening socket.
    package func end() {
        listening = nil
        retry = nil
        tellSubscribers()
        for connection in connections.values { connection.close() }
        farewells.end()
        Glibc.close(listener)
        held = nil
        handler = nil
    }

    /// Requests wait from now on, but for those that ask nothing of the player: what it was before is still being read.
    package func holdRequests() { held = held ?? [] }

    /// The requests that waited are carried out, in their order.
    package func releaseRequests() {
        let waiting = held ?? []
        held = nil
        for request in waiting { request() }
    }

    /// Keeps a request for later; false: it need not wait.
    func hold(_ method: MethodName, _ request: @escaping @PlayerLoop () -> Void) -> Bool {
        switch method {
        case .other(.hello), .other(.rpcDiscover), .other(.daemonReload), .other(.daemonQuit): return false
        default: break
        }
        guard held != nil else { return false }
        held?.append(request)
        return true
    }

    /// True while requests wait for saved state.
    package var isHoldingRequests: Bool { held != nil }

    /// True if a client waits for its connection to be accepted.
    package var isAskedFor: Bool {
        var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 0) == 1
    }

    /// Number of clients.
    package var clientCount: Int { connections.count }

    /// Number of subscribers.
    package var subscriberCount: Int { subscribers.count }

    /// Keeps the state for requests, and sends it to all subscribers: in the next turn of the loop, so that the
    /// answer of who caused it does not wait for the others. The state must be new: each has a `sequence` of its own.
    /// Encodes it once.
    package func publish(_ state: NowPlayingState) {
        let encoded = encoder.encode(state)
        let isActive = state.session == self.state.session
        if state.cause == .pause { lastPause = PauseRecord(by: state.by, reason: state.reason, at: EventLoop.now) }
        if isActive {
            self.state = state
            encodedState = encoded
        } else {
            others[state.session] = (state, encoded)
        }
        guard !subscribers.isEmpty else { return }
        unsent.append(
            PublishedEvent(
                cause: state.cause, session: state.session, isActive: isActive,
                isHidden: hidden.contains(state.session), line: PublishedEvent.notification(encoded),
                texts: state.hasTexts ? TranslatedEvent(state) : nil))
        eventCount += 1
        if unsent.count == 1 { loop.later { [weak self] in self?.tellSubscribers() } }
        if unsent.count >= Self.maximumUnsent { tellSubscribers() }
    }

    /// True if there is a session of this name.
    func hasSession(_ name: String) -> Bool { name == state.session || others[name] != nil }

    /// The last published state of a session (nil: the active one), and as JSON text; nil: there is no such session.
    func published(_ session: String?) -> (state: NowPlayingState, encoded: [UInt8])? {
        guard let session, session != state.session else { return (state, encodedState) }
        return others[session]
    }

    /// From now on this session, of which a state was published, is the one that is followed.
    package func activate(_ session: String) {
        guard let next = others.removeValue(forKey: session) else { return }
        others[state.session] = (state, encodedState)
        (state, encodedState) = next
    }

    /// There is no such session any more; it is not the active one.
    package func forgetSession(_ session: String) {
        others[session] = nil
        hidden.remove(session)
    }

    /// Hides a session from clients that do not name it.
    package func hideSession(_ session: String) { hidden.insert(session) }

    /// Sends a request to a client; `answer` is called once, within `seconds`, with nil if it does not answer or has gone.
    func call(
        _ client: Int, _ method: String, _ parameters: JSONObject, within seconds: Double,
        _ answer: @escaping @PlayerLoop (RPCResponse?) -> Void
    ) {
        guard let connection = connections[client] else { return loop.later { answer(nil) } }
        connection.call(method, parameters, within: seconds, answer)
    }

    private func tellSubscribers() {
        for connection in subscribers { connection.catchUp() }
        unsent = []
    }

    /// Events behind the one with this number.
    func events(after number: Int) -> ArraySlice<PublishedEvent> { unsent.suffix(eventCount - number) }

    /// From now on these folders are what foreign peers may name media in.
    func setMediaRoots(_ roots: MediaRoots) { options.mediaRoots = roots }

    /// A client wants the daemon to end.
    func requestQuit() { quit?() }

    /// A client wants the configuration read again; `answer` is called once, with an error where there is none to read.
    func requestReload(_ by: Originator, _ answer: @escaping @PlayerLoop (MethodResult) -> Void) {
        guard let reload else { return answer(.failure(.commandFailed(.unavailable, "there is no configuration"))) }
        reload(by, answer)
    }

    /// Subscribes or unsubscribes a connection; idempotent.
    func setSubscribed(_ connection: Connection, _ isSubscribed: Bool) {
        let index = subscribers.firstIndex { $0 === connection }
        switch (index, isSubscribed) {
        case (nil, true): subscribers.append(connection)
        case (let index?, false): subscribers.remove(at: index)
        default: break
        }
    }

    /// A connection has ended.
    func forget(_ connection: Connection) {
        guard connections.removeValue(forKey: connection.number) != nil else { return }
        if options.roles.isForeign(connection.credentials),
            let count = connectionsOfForeigner[connection.credentials.uid]
        {
            connectionsOfForeigner[connection.credentials.uid] = count > 1 ? count - 1 : nil
        }
        setSubscribed(connection, false)
        Log.debug("client \(connection.number) disconnected")
        if connection.isKnownToHandler { handler?.clientGone(connection.identity) }
        listening?.setEnabled(true)
        onUse?()
    }

    /// Ends the connection that holds most unfinished input, while there is more of it than allowed.
    func boundUnfinishedInput() {
        while unfinishedBytes > Self.maximumUnfinishedBytes,
            let worst = connections.values.max(by: { $0.waitingBytes < $1.waitingBytes }), worst.waitingBytes > 0
        {
            worst.refuseAndClose(.invalidRequest("too many unfinished lines are waiting; this one was the longest"))
        }
    }

    private func accept() {
        for _ in 0..<64 {
            let descriptor: Int32
            do throws(SystemError) { descriptor = try UnixSocket.accept(listener) } catch {
                switch error.code {
                case EAGAIN, EINTR, ECONNABORTED: return
                default: return pauseAccepting(error)
                }
            }
            welcome(descriptor)
            if Int(descriptor) >= options.descriptorLimit - Self.reservedDescriptors {
                // Whoever waits is taken when a connection ends; the last descriptors are for media and the sound server.
                listening?.setEnabled(false)
                return
            }
        }
    }

    /// Out of descriptors or memory: goes on when a connection ends, or a second later.
    private func pauseAccepting(_ error: SystemError) {
        Log.warning(error.message, oncePerMinute: "accept", now: EventLoop.now)
        listening?.setEnabled(false)
        retry = loop.deadline(EventLoop.now.advanced(bySeconds: 1)) { [unowned self] in listening?.setEnabled(true) }
    }

    private func welcome(_ descriptor: Int32) {
        guard let credentials = UnixSocket.peer(descriptor) else {
            close(descriptor)
            return
        }
        guard let role = options.roles.role(of: credentials) else {
            Log.warning(
                "rejected user \(credentials.uid) (pid \(credentials.pid)): not a member of a configured group",
                oncePerMinute: "turned away \(credentials.uid)", now: EventLoop.now)
            return turnAway(
                descriptor, .denied("permission denied: this user is not a member of a configured group"))
        }
        let isForeign = options.roles.isForeign(credentials)
        let ofSameUser = connectionsOfForeigner[credentials.uid] ?? 0
        guard connections.count < Self.maximumClients, !isForeign || ofSameUser < maximumOfForeigner else {
            return turnAway(descriptor, .commandFailed(.tooManyClients, "too many clients are connected"))
        }
        lastNumber += 1
        let connection = Connection(
            self, descriptor, number: lastNumber, credentials: credentials, role: role, isForeign: isForeign)
        guard connection.begin() else { return }
        connections[connection.number] = connection
        Log.debug("client \(lastNumber) connected: pid \(credentials.pid), user \(credentials.uid), role \(role)")
        if isForeign { connectionsOfForeigner[credentials.uid] = ofSameUser + 1 }
        onUse?()
    }

    private func turnAway(_ descriptor: Int32, _ error: RPCError) {
        var writer = JSONWriter()
        writer.answer(id: RPCLine.nullID, error: error)
        writer.newline()
        _ = writer.bytes.withUnsafeBytes { UnixSocket.send(descriptor, $0) }
        farewells.add(descriptor)
    }

    isolated deinit { arrivals.deallocate() }
}

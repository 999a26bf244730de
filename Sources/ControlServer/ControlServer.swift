package import ControlProtocol
import Glibc
package import LinuxSystem
import NowPlaying

/// Surroundings of a server.
package struct ControlServerOptions: Sendable {
    package var roles: PeerRoles
    /// Descriptors that the process may have open.
    package var descriptorLimit: Int
    /// Version of the program.
    package var version: String

    /// Options, by their parts.
    package init(roles: PeerRoles, descriptorLimit: Int, version: String) {
        self.roles = roles
        self.descriptorLimit = descriptorLimit
        self.version = version
    }
}

/// A JSON-RPC server on a Unix socket: connections, roles, limits, batches, descriptors and subscriptions. The catalogue of
/// methods and the handler that carries them out are the program's.
@PlayerLoop package final class ControlServer {
    /// Connections at once, if the process may have so many open files.
    package nonisolated static let maximumClients = 4096
    /// Descriptors that are kept for everything but connections.
    static let reservedDescriptors = 64
    /// Bytes of lines without an end over all clients.
    package nonisolated static let maximumUnfinishedBytes = 16 << 20
    /// Bytes taken from a connection at once, so that the others get their turn.
    static let readBytes = 32 << 10
    /// The same for a foreign user: the owner's next request waits no longer than these take.
    static let readBytesOfForeigner = 4 << 10

    let loop: EventLoop
    let options: ControlServerOptions
    /// The methods that the server answers.
    let methods: MethodTable
    let preparations: Preparations
    let farewells: Farewells
    /// Carries out what the server does not answer itself; nil before `begin`.
    private(set) var handler: (any RequestHandler)?
    /// Requests that wait; nil: none has to.
    private var held: [@PlayerLoop () -> Void]?
    private let listener: Int32
    /// Listening socket for clients that do not count as users of the server; nil: there is none.
    private var backgroundListener: Int32?
    private var listening: [EventSource] = []
    private var retry: EventSource?
    /// Clients, by their numbers.
    private(set) var connections: [Int: Connection] = [:]
    private var backgroundCount = 0
    private var connectionsOfForeigner: [UInt32: Int] = [:]
    private var connectionsOfForeigners = 0
    private let pace = ConnectionPace()
    /// Memory that the server holds for its clients.
    package let memory = ClientMemory()
    /// Open files that clients have handed over.
    let files: ClientFiles
    /// True if clients may be ended in the next turn of the loop, as a user holds too much memory.
    private var willBoundMemory = false
    private var lastNumber = 0
    /// Connections at once of one user that is not the daemon's own.
    private var maximumOfForeigner = maximumClients / 2
    private var subscribers: [Connection] = []
    /// The newest events, which not every subscriber has got yet.
    private var unsent: [ServerEvent] = []
    /// Number of events so far, which is the newest one's number.
    private(set) var eventCount = 0
    /// Events of one turn of the loop above which they are sent at once.
    private static let maximumUnsent = 64
    /// Bytes that wait in the input buffers of all connections.
    package private(set) var unfinishedBytes = 0
    /// Buffer for arriving bytes of every connection.
    private let arrivals = UnsafeMutableRawBufferPointer.allocate(byteCount: readBytes, alignment: 16)
    /// The answer of `rpc.discover`, once somebody asked.
    private(set) lazy var discovery: [UInt8] = {
        var writer = JSONWriter()
        writer.value(methods.discovery(version: options.version))
        return writer.bytes
    }()

    /// A server of these methods on a listening socket, which becomes the server's.
    package init(_ loop: EventLoop, listener: Int32, methods: MethodTable, options: ControlServerOptions) {
        self.loop = loop
        self.listener = listener
        self.methods = methods
        self.options = options
        files = ClientFiles(limit: options.descriptorLimit)
        preparations = Preparations(Workers(loop))
        farewells = Farewells(loop)
    }

    /// Starts to take connections. `background`: a second listening socket, which becomes the server's, for clients that
    /// `userCount` leaves out. A server that has started gets another handler; its clients stay.
    package func begin(_ handler: any RequestHandler, background: Int32? = nil) {
        self.handler = handler
        guard listening.isEmpty else { return }
        backgroundListener = background
        for listener in [listener] + [background].compactMap({ $0 }) {
            let source = loop.watch(listener, Events.readable) { [unowned self] _ in
                accept(from: listener, inBackground: listener == background)
            }
            if let source { listening.append(source) }
        }
    }

    /// Sets the number of connections at once of one user that is not the daemon's own.
    package func limitForeigner(to connections: Int) { maximumOfForeigner = connections }

    private func setListening(_ isListening: Bool) {
        for source in listening { source.setEnabled(isListening) }
    }

    /// Ends all connections and closes the listening socket.
    package func end() {
        listening = []
        retry = nil
        sendToSubscribers()
        for connection in connections.values { connection.close() }
        farewells.end()
        Glibc.close(listener)
        if let backgroundListener { Glibc.close(backgroundListener) }
        backgroundListener = nil
        held = nil
        handler = nil
    }

    /// Requests wait from now on, but for those of methods that are never held.
    package func holdRequests() { held = held ?? [] }

    /// The requests that waited are carried out, in their order.
    package func releaseRequests() {
        let waiting = held ?? []
        held = nil
        for request in waiting { request() }
    }

    /// Keeps a request for later; false: it need not wait.
    func hold(_ request: @escaping @PlayerLoop () -> Void) -> Bool {
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

    /// Number of clients but for those in the background.
    package var userCount: Int { connections.count - backgroundCount }

    /// Number of subscribers.
    package var subscriberCount: Int { subscribers.count }

    /// Sends an event to all who subscribed to it: in the next turn of the loop, so that the answer of who caused it does not
    /// wait for the others.
    package func publish(_ event: ServerEvent) {
        guard !subscribers.isEmpty else { return }
        unsent.append(event)
        eventCount += 1
        if unsent.count == 1 { loop.later { [weak self] in self?.sendToSubscribers() } }
        if unsent.count >= Self.maximumUnsent { sendToSubscribers() }
    }

    /// Sends a request to a client; `answer` is called once, within `seconds`, with nil if it does not answer or has gone.
    package func call(
        _ client: Int, _ method: String, _ parameters: JSONObject, within seconds: Double,
        _ answer: @escaping @PlayerLoop (RPCResponse?) -> Void
    ) {
        guard let connection = connections[client] else { return loop.later { answer(nil) } }
        connection.call(method, parameters, within: seconds, answer)
    }

    private func sendToSubscribers() {
        if unsent.count == 1, let event = unsent.first, event.reach == .followers {
            // Nearly always, and nearly all of them: with hundreds, each instruction here counts.
            var (form, line) = (EventForm?.none, event.line)
            for connection in subscribers {
                if connection.feed.form !== form {
                    form = connection.feed.form
                    line = event.line(in: form)
                }
                let isSent = line.withUnsafeBytes { connection.sendAtOnce(event, $0, number: eventCount) }
                if !isSent { connection.catchUp() }
            }
        } else {
            for connection in subscribers { connection.catchUp() }
        }
        unsent = []
    }

    /// Events after the one with this number.
    func events(after number: Int) -> ArraySlice<ServerEvent> { unsent.suffix(eventCount - number) }

    /// Subscribes or unsubscribes a connection; idempotent.
    func setSubscribed(_ connection: Connection, _ isSubscribed: Bool) {
        let index = subscribers.firstIndex { $0 === connection }
        switch (index, isSubscribed) {
        case (nil, true): subscribers.append(connection)
        case (let index?, false): subscribers.remove(at: index)
        case (nil, false), (_?, true): break
        }
    }

    /// A connection has ended.
    func forget(_ connection: Connection) {
        guard connections.removeValue(forKey: connection.number) != nil else { return }
        if options.roles.isForeign(connection.credentials),
            let count = connectionsOfForeigner[connection.credentials.uid]
        {
            connectionsOfForeigner[connection.credentials.uid] = count > 1 ? count - 1 : nil
            connectionsOfForeigners -= 1
            if count == 1 { pace.tidy(at: EventLoop.now) }
        }
        if connection.isInBackground { backgroundCount -= 1 }
        setSubscribed(connection, false)
        Log.debug("client \(connection.number) disconnected")
        if connection.isKnownToHandler { handler?.clientGone(connection.identity) }
        setListening(true)
        handler?.clientCountChanged()
    }

    /// Counts so many more bytes of unfinished lines, or fewer.
    func countUnfinished(_ bytes: Int) { unfinishedBytes += bytes }

    /// Ends the connection that holds most unfinished input, while there is more of it than allowed: one of a foreign user,
    /// unless the owner's connections hold more than half.
    func boundUnfinishedInput() {
        while unfinishedBytes > Self.maximumUnfinishedBytes {
            let (foreign, own) = connections.values.reduce(into: (0, 0)) { sums, connection in
                if connection.rights.isForeign {
                    sums.0 += connection.input.count
                } else {
                    sums.1 += connection.input.count
                }
            }
            let candidates = connections.values.lazy.filter { $0.rights.isForeign == (foreign >= own) }
            guard let worst = candidates.max(by: { $0.input.count < $1.input.count }), worst.input.count > 0 else {
                return
            }
            worst.refuseAndClose(.invalidRequest("too many unfinished lines are waiting; this one was the longest"))
        }
    }

    /// Ends clients in the next turn of the loop, as long as a user holds more memory than allowed.
    func boundMemory() {
        guard !willBoundMemory, memory.excessive != nil else { return }
        willBoundMemory = true
        loop.later { [weak self] in self?.endExcess() }
    }

    /// Ends the clients that read least, those of the users that hold too much.
    private func endExcess() {
        willBoundMemory = false
        while let account = memory.excessive {
            let candidates = connections.values.lazy.filter {
                $0.holding.account === account && $0.holding.bytes >= ClientMemory.leastBytes
            }
            guard let slowest = candidates.min(by: { $0.holding.since < $1.holding.since }) else { return }
            Log.warning(
                "closed a connection of user \(slowest.user) (pid \(slowest.credentials.pid)): the connections of this "
                    + "user hold too much memory, and this one has not read its answers for longest",
                LogFields(.clientRefused),
                oncePerMinute: "memory of \(slowest.user)", now: EventLoop.now)
            slowest.refuseAndClose(
                .commandFailed(.tooManyClients, "the connections of this user hold too much memory; read the answers"))
        }
    }

    /// The buffer for the next bytes of a connection.
    func arrivals(for peer: PeerCredentials) -> UnsafeMutableRawBufferPointer {
        guard options.roles.isForeign(peer) else { return arrivals }
        return UnsafeMutableRawBufferPointer(rebasing: arrivals[..<Self.readBytesOfForeigner])
    }

    /// Maximum connections that one turn of the loop takes. The kernel keeps those of all users in one queue, and a user who
    /// connects without end must not keep it full: one that is refused costs some microseconds.
    private static let acceptsOfTurn = 256

    private func accept(from listener: Int32, inBackground isInBackground: Bool) {
        for _ in 0..<Self.acceptsOfTurn {
            let descriptor: Int32
            do throws(SystemError) { descriptor = try UnixSocket.accept(listener) } catch {
                switch error.code {
                case EAGAIN, EINTR, ECONNABORTED: return
                default: return pauseAccepting(error)
                }
            }
            welcome(descriptor, inBackground: isInBackground)
            if Int(descriptor) >= options.descriptorLimit - Self.reservedDescriptors {
                // The end of a connection admits the next client. The last descriptors are for media and the sound server.
                setListening(false)
                return
            }
        }
    }

    /// Out of descriptors or memory: continues when a connection ends, or a second later.
    private func pauseAccepting(_ error: SystemError) {
        Log.warning(error.message, LogFields(.outOfDescriptors), oncePerMinute: "accept", now: EventLoop.now)
        setListening(false)
        retry = loop.deadline(EventLoop.now.advanced(bySeconds: 1)) { [unowned self] in setListening(true) }
    }

    private func welcome(_ descriptor: Int32, inBackground isInBackground: Bool) {
        guard let credentials = UnixSocket.peer(descriptor) else {
            close(descriptor)
            return
        }
        guard let role = options.roles.role(of: credentials) else {
            Log.warning(
                "rejected user \(credentials.uid) (pid \(credentials.pid)): not a member of a configured group",
                LogFields(.clientRefused), oncePerMinute: "turned away \(credentials.uid)", now: EventLoop.now)
            return turnAway(
                descriptor, .denied("permission denied: this user is not a member of a configured group"))
        }
        let isForeign = options.roles.isForeign(credentials)
        guard !isForeign || pace.admits(credentials.uid, at: EventLoop.now) else {
            Log.warning(
                "refused connections of user \(credentials.uid) (pid \(credentials.pid)): too many in a short time",
                LogFields(.clientRefused), oncePerMinute: "pace of \(credentials.uid)", now: EventLoop.now)
            // Without a farewell: a watch would cost more than the connection.
            close(descriptor)
            return
        }
        let ofSameUser = connectionsOfForeigner[credentials.uid] ?? 0
        let places = min(Self.maximumClients, options.descriptorLimit - Self.reservedDescriptors)
        guard connections.count < places,
            // A quarter of the places is the owner's.
            !isForeign || connectionsOfForeigners < places / 4 * 3 && ofSameUser < min(maximumOfForeigner, places / 2)
        else {
            return turnAway(descriptor, .commandFailed(.tooManyClients, "too many clients are connected"))
        }
        lastNumber += 1
        let connection = Connection(
            self, descriptor, number: lastNumber, credentials: credentials, role: role, isForeign: isForeign,
            isInBackground: isInBackground)
        guard connection.begin() else { return }
        connections[connection.number] = connection
        if isInBackground { backgroundCount += 1 }
        Log.debug("client \(lastNumber) connected: pid \(credentials.pid), user \(credentials.uid), role \(role)")
        if isForeign {
            connectionsOfForeigner[credentials.uid] = ofSameUser + 1
            connectionsOfForeigners += 1
        }
        handler?.clientCountChanged()
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

import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying

/// One client: its rights, its requests, and the bytes from and for it.
///
/// Requests are started one after the other; while a worker prepares one, the next ones wait unread.
@PlayerLoop final class Connection: ServerClient {
    /// Unread bytes of answers above which nothing more is read.
    static let maximumUnreadBytes = 1 << 20
    /// Requests without an answer above which nothing more is read.
    static let maximumOutstanding = 1000
    /// Bytes of requests without an answer, as they are in memory, above which nothing more is read.
    static let maximumWaitingBytes = 4 << 20
    /// Seconds for the preparation of a client's last request after it has gone.
    static let graceSeconds = 2.0

    unowned let server: ControlServer
    /// The socket: closed with the connection.
    let descriptor: Int32
    let number: Int
    let credentials: PeerCredentials
    /// True if it does not count as a user of the server.
    let isInBackground: Bool
    /// Its rights: fewer after it gave some up.
    private(set) var rights: ClientRights
    private var source: EventSource?
    private var watched: UInt32 = 0

    /// Bytes of the client.
    let input = LineInput()
    /// Bytes for the client.
    let output: ClientOutput
    /// Events for the client.
    let feed = ClientFeed()
    /// Requests of ours that it has not answered.
    let calls = ClientCalls()
    /// Memory that the server holds for the client.
    let holding: ClientHolding
    /// Set while a worker prepares a request.
    private var preparing: AbandonFlag?
    private var grace: EventSource?
    /// Requests that were started and not answered.
    private var outstanding = 0
    /// Those of them that were not answered at once, by their numbers.
    private(set) var waiting: [Int: WaitingRequest] = [:]
    /// Bytes that those take, estimated.
    private(set) var waitingBytes = 0
    private var lastRequest = 0
    private var lastAnswered = 0
    private(set) var isClosed = false
    private var ownName: String?
    /// The client of another server for which this one acts; nil: for itself.
    private var principal: Principal?
    private var knownIdentity: ClientIdentity?
    private var willSettle = false

    /// A client that was let in; the descriptor becomes the connection's with `begin`.
    init(
        _ server: ControlServer, _ descriptor: Int32, number: Int, credentials: PeerCredentials, role: Role,
        isForeign: Bool, isInBackground: Bool
    ) {
        self.isInBackground = isInBackground
        self.server = server
        self.descriptor = descriptor
        output = ClientOutput(descriptor)
        self.number = number
        self.credentials = credentials
        let rights = ClientRights(role: role, isForeign: isForeign)
        self.rights = rights
        holding = ClientHolding(server.memory, Self.holder(credentials.uid, rights))
    }

    /// Starts to listen to the client. False: it can't be, and the descriptor is closed.
    func begin() -> Bool {
        watched = Events.readable
        source = server.loop.watch(descriptor, watched) { [unowned self] in happened($0) }
        guard let source else {
            holding.end()
            Glibc.close(descriptor)
            return false
        }
        if server.options.roles.isForeign(credentials) { source.yieldToOthers() }
        return true
    }

    /// True if requests of this client must wait.
    var isBlocked: Bool {
        preparing != nil || outstanding >= Self.maximumOutstanding || waitingBytes > Self.maximumWaitingBytes
            || output.unsentCount > Self.maximumUnreadBytes
    }

    /// Takes the name that the client gives itself.
    func setName(_ name: String) {
        let printable = PrintableText.stripped(name, limit: 128)
        guard !printable.isEmpty else { return }
        ownName = printable
        knownIdentity = nil
    }

    /// Acts for a client of another server from now on: events name that one.
    func act(for principal: Principal) {
        self.principal = principal
        knownIdentity = nil
        holding.move(to: Self.holder(user, rights))
    }

    /// Gives up all rights beyond these, for good: the client acts for somebody that it does not trust.
    func giveUpRights(beyond limit: Role) {
        rights.giveUp(beyond: limit)
        knownIdentity = nil
        holding.move(to: Self.holder(user, rights))
        guard rights.role < .control else { return }
        catchUp(isFollowed: true)
        feed.unfollowAll()
        server.setSubscribed(self, feed.isActive)
    }

    /// Number of its user, or of the one of the client for which it acts.
    var user: UInt32 { principal?.uid ?? credentials.uid }

    /// Its identity for handlers. Its program's name is looked up on first use.
    var identity: ClientIdentity {
        if let knownIdentity { return knownIdentity }
        isKnownToHandler = true
        let identity = ClientIdentity(
            number: number, name: principal?.name ?? ownName ?? ProcessName.of(credentials.pid),
            pid: principal?.pid ?? credentials.pid, uid: user, role: rights.role, isForeign: rights.isForeign)
        knownIdentity = identity
        return identity
    }

    /// True if a method has used its identity.
    private(set) var isKnownToHandler = false

    /// A request is started: its number.
    func begun() -> Int {
        outstanding += 1
        lastRequest += 1
        return lastRequest
    }

    /// The request was not answered within its first turn, unless it was. `bytes`: length of its line.
    func waits(_ request: Int, _ method: String, bytes: Int) {
        guard lastAnswered != request else { return }
        let held = bytes * ClientMemory.growthOfRequests
        waiting[request] = WaitingRequest(method: method, since: EventLoop.now, bytes: held)
        waitingBytes += held
        recount()
    }

    /// The request is answered.
    func ended(_ request: Int) {
        outstanding -= 1
        guard !waiting.isEmpty, let answered = waiting.removeValue(forKey: request) else {
            lastAnswered = request
            return
        }
        waitingBytes -= answered.bytes
        recount()
    }

    /// A worker prepares a request; the client's next requests wait until `endPreparing`. Set when the client has gone.
    func beginPreparing() -> AbandonFlag {
        let abandoned = AbandonFlag()
        preparing = abandoned
        return abandoned
    }

    /// The request is prepared: those that waited are started.
    func endPreparing() { preparing = nil }

    private func happened(_ events: UInt32) {
        if events & Events.writable != 0 { flush() }
        if events & Events.readable != 0, !isBlocked, !input.hasEnded { receive() }
        if events & Events.gone != 0, !isClosed { leave() }
        settle()
    }

    /// The client is gone: what it sent before is still carried out, but not for long.
    private func leave() {
        stopSending()
        if input.hasEnded || isBlocked {
            // The kernel would report it again and again.
            source?.setEnabled(false)
        }
        guard preparing != nil, grace == nil else { return }
        let end = EventLoop.now.advanced(bySeconds: Self.graceSeconds)
        grace = server.loop.deadline(end) { [unowned self] in preparing?.set() }
    }

    /// After everything that happens to the connection: carries out what waited and may continue now, watches what is to be
    /// watched, or ends it.
    func settle() {
        guard !isClosed, !input.isBusy else { return }
        process()
        guard !isClosed else { return }
        if input.hasEnded, !isBlocked, outstanding == 0,
            output.isOver || (output.isEmpty && !feed.hasMissed && !feed.isActive)
        {
            return close()
        }
        watch()
    }

    /// The same in the next turn of the loop, for callers in the middle of something that no request may come between.
    func settleSoon() {
        guard !willSettle, !isClosed else { return }
        willSettle = true
        server.loop.later {
            self.willSettle = false
            self.settle()
        }
    }

    /// Watches what is to be watched now.
    func watch() {
        guard !isClosed else { return }
        var wanted: UInt32 = 0
        if !input.hasEnded, !isBlocked { wanted |= Events.readable }
        if output.isChoked { wanted |= Events.writable }
        if output.isOver, wanted & Events.readable != 0 { source?.setEnabled(true) }
        guard wanted != watched else { return }
        watched = wanted
        source?.setEvents(wanted)
    }

    /// Ends the connection now.
    func close() { close { Glibc.close($0) } }

    private func close(_ descriptorTaker: (Int32) -> Void) {
        guard !isClosed else { return }
        isClosed = true
        preparing?.set()
        grace = nil
        source?.release()
        source = nil
        descriptorTaker(descriptor)
        server.countUnfinished(-input.count)
        input.clear()
        output.end()
        feed.end()
        calls.end()
        holding.end()
        server.forget(self)
    }

    /// Sends the client the reason, as far as it reads, and ends the connection.
    func refuseAndClose(_ error: RPCError) {
        guard !isClosed else { return }
        write { $0.answer(id: RPCLine.nullID, error: error) }
        flush()
        close { server.farewells.add($0) }
    }
}

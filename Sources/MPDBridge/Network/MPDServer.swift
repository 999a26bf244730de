import BridgeRuntime
import Glibc
import LinuxSystem
import MPDProtocol

/// Carries out commands for clients.
@PlayerLoop protocol CommandPerformer: AnyObject {
    /// The available commands.
    var commands: Set<MPDCommand> { get }
    /// Carries out a command. It writes the answer by the client's `write` before `finish`.
    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish)
    /// Carries out several requests of a command list as one change.
    func perform(_ requests: [MPDRequest], for client: MPDClient, _ finish: @escaping JointFinish)
    /// Forgets a client that has gone.
    func clientGone(_ client: MPDClient)
}

/// The clients of the bridge.
@PlayerLoop final class MPDServer {
    /// Version of the protocol in the greeting.
    static let version = "0.24.0"
    /// Called when a client has gone.
    var onGone: (@PlayerLoop () -> Void)?
    private let loop: EventLoop
    private let log: BridgeLog
    private var rights: PeerRights
    /// In the order of their numbers.
    private var clients: [MPDClient] = []
    private var lastNumber = 0
    /// The last answer to `idle`.
    private var lastChanged: (subsystems: SubsystemSet, lines: [UInt8]) = ([], [])
    /// Watches the clients that wait for no change.
    private(set) lazy var patience = ClientPatience(loop, self, seconds: silence)
    private let silence: Double
    private var places = ClientPlaces()
    private var refusals = LogRate()

    /// Memory that clients make the bridge hold.
    let memory = HeldMemory()
    /// Running commands with long answers.
    let long = LongCommands()
    /// Turns of clients with work left.
    let turns: ClientTurns
    /// Passwords of clients.
    private let passwords: PasswordGate

    /// A server without clients. `silence`: seconds without a line after which it ends a connection that waits for no change.
    init(_ loop: EventLoop, _ log: BridgeLog, _ rights: PeerRights, silence: Double = 60) {
        self.silence = silence
        self.loop = loop
        self.log = log
        self.rights = rights
        turns = ClientTurns(loop)
        passwords = PasswordGate(loop, log)
    }

    /// All clients in the order of their numbers.
    var all: [MPDClient] { clients }

    /// True while a client of this kind is connected.
    func hasClients(of caller: CallerLink.Caller) -> Bool {
        clients.contains { CallerLink.Caller($0.user) == caller }
    }

    /// Judges a password of a client. `done` gets its rights, or the failure.
    func judge(
        _ word: [UInt8], of client: MPDClient,
        _ done: @escaping @PlayerLoop (Result<Permissions, MPDFailure>) -> Void
    ) {
        passwords.judge(client.source, { [weak self] in self?.rights.rights(forPassword: word) }, done)
    }

    /// Applies new settings to further connections.
    func set(_ rights: PeerRights) { self.rights = rights }

    /// A connection that has a place, and is not served yet.
    struct Arrival {
        fileprivate let descriptor: Int32
        fileprivate let isLocal: Bool
        fileprivate let source: PeerSource
        /// The user with rights of its own; nil: there is none.
        fileprivate let user: UInt32?
    }

    /// Gives a connection a place; nil: there is none, and the connection is closed. `isLocal`: it uses a local socket.
    func admit(_ descriptor: Int32, isLocal: Bool) -> Arrival? {
        let reported = PeerUser.reported(descriptor, isLocal: isLocal)
        let source = PeerSource(descriptor, user: reported)
        guard places.enter(source) else {
            let line = refusals.line("refused a client of \(source.text): too many are connected", at: EventLoop.now)
            if let line { log.warning(line, .clientRefused) }
            close(descriptor)
            return nil
        }
        let user = reported.flatMap { PeerUser.counts($0, owner: geteuid()) ? $0 : nil }
        return Arrival(descriptor: descriptor, isLocal: isLocal, source: source, user: user)
    }

    /// Ends a connection that is not served.
    func dismiss(_ arrival: Arrival) {
        places.leave(arrival.source)
        close(arrival.descriptor)
    }

    /// Serves a connection in a partition, which carries out its commands.
    func welcome(_ arrival: Arrival, _ performer: any CommandPerformer) {
        lastNumber += 1
        let client = MPDClient(
            self, loop, arrival.descriptor, number: lastNumber, isLocal: arrival.isLocal, user: arrival.user,
            arrival.source, permissions: rights.rights(of: arrival.user), performer)
        clients.append(client)
        if !client.begin() { client.close() }
    }

    /// Reports a change to every client.
    func note(_ subsystem: Subsystem) {
        let now = EventLoop.now
        for client in clients { client.note(SubsystemSet(subsystem), at: now) }
    }

    /// Reports a change to the clients of a partition.
    func note(_ subsystem: Subsystem, in performer: any CommandPerformer) {
        note(SubsystemSet(subsystem), in: performer)
    }

    /// Reports changes of several subsystems to the clients of a partition, in the order of their connections.
    func note(_ changed: SubsystemSet, in performer: any CommandPerformer) {
        let now = EventLoop.now
        for client in clients where client.performer === performer { client.note(changed, at: now) }
    }

    /// The answer to `idle` with these changes. It is made once for all clients that get the same answer.
    func lines(of changed: SubsystemSet) -> [UInt8] {
        if changed != lastChanged.subsystems {
            var writer = AnswerWriter()
            writer.changed(changed)
            lastChanged = (changed, writer.take())
        }
        return lastChanged.lines
    }

    /// Records that a client has moved to another partition.
    func moved(_ client: MPDClient, from performer: any CommandPerformer) { performer.clientGone(client) }

    /// Removes a client whose connection has ended.
    func forget(_ client: MPDClient) {
        guard let index = clients.lastIndex(where: { $0 === client }) else { return }
        clients.remove(at: index)
        places.leave(client.source)
        client.performer.clientGone(client)
        onGone?()
    }

    /// Ends all connections.
    func end() {
        for client in clients { client.close() }
    }
}

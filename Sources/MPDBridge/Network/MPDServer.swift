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
    /// Maximum number of connections.
    private static let maximumClients = 1000
    /// Maximum number of connections without a known user.
    private static let maximumUnknown = 200

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

    /// A server without clients. `silence`: seconds without a line after which it ends a connection that waits for no change.
    init(_ loop: EventLoop, _ log: BridgeLog, _ rights: PeerRights, silence: Double = 60) {
        self.silence = silence
        self.loop = loop
        self.log = log
        self.rights = rights
    }

    /// All clients in the order of their numbers.
    var all: [MPDClient] { clients }

    /// True while a client of this kind is connected.
    func hasClients(of caller: CallerLink.Caller) -> Bool {
        clients.contains { CallerLink.Caller($0.user) == caller }
    }

    /// Rights of a password; nil: the password is wrong.
    func rights(forPassword word: [UInt8]) -> Permissions? { rights.rights(forPassword: word) }

    /// Applies new settings to further connections.
    func set(_ rights: PeerRights) { self.rights = rights }

    /// Takes a connection for a partition, which carries out its commands. `isLocal`: the connection uses a local socket.
    func welcome(_ descriptor: Int32, isLocal: Bool, _ performer: any CommandPerformer) {
        let user = isLocal ? UnixSocket.peer(descriptor)?.uid : TCPSocket.localUser(descriptor)
        let unknown = clients.count { $0.user == nil }
        guard clients.count < Self.maximumClients, user != nil || unknown < Self.maximumUnknown else {
            log.warning("refused a client: too many are connected")
            close(descriptor)
            return
        }
        lastNumber += 1
        let client = MPDClient(
            self, loop, descriptor, number: lastNumber, isLocal: isLocal, user: user,
            permissions: rights.rights(of: user),
            performer)
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
        client.performer.clientGone(client)
        onGone?()
    }

    /// Ends all connections.
    func end() {
        for client in clients { client.close() }
    }
}

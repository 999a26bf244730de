import LinuxSystem
import MPDProtocol

/// The clients of a partition.
@PlayerLoop final class PartitionClients {
    private weak var server: MPDServer?
    private weak var performer: (any CommandPerformer)?

    /// A view of this server's clients; no client is in the partition yet.
    init(_ server: MPDServer) { self.server = server }

    /// Sets the commands of the partition; its clients are the clients of these commands.
    func follow(_ performer: any CommandPerformer) { self.performer = performer }

    /// All clients of the server.
    var all: [MPDClient] { server?.all ?? [] }

    /// Reports a change to the clients of the partition.
    func noteHere(_ subsystem: Subsystem) {
        if let performer { server?.note(subsystem, in: performer) }
    }

    /// Reports a change to every client of the server.
    func noteAll(_ subsystem: Subsystem) { server?.note(subsystem) }

    /// Judges a password of a client. `done` gets its rights, or the failure.
    func judge(
        _ word: [UInt8], of client: MPDClient,
        _ done: @escaping @PlayerLoop (Result<Permissions, MPDFailure>) -> Void
    ) {
        server?.judge(word, of: client, done)
    }

    /// Memory that the clients make the bridge hold.
    var memory: HeldMemory? { server?.memory }
}

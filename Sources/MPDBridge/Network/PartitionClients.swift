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

    /// Rights of a password; nil: the password is wrong.
    func rights(forPassword word: [UInt8]) -> Permissions? { server?.rights(forPassword: word) }
}

import LinuxSystem
import MPDProtocol

/// The clients of a partition.
@PlayerLoop final class PartitionClients {
    private weak var server: MPDServer?
    private weak var performer: (any CommandPerformer)?

    /// Clients of this server, none of them in the partition yet.
    init(_ server: MPDServer) { self.server = server }

    /// The clients whose commands this one carries out are those of the partition.
    func follow(_ performer: any CommandPerformer) { self.performer = performer }

    /// All clients of the server.
    var all: [MPDClient] { server?.all ?? [] }

    /// Something has changed for the clients of the partition.
    func noteHere(_ subsystem: Subsystem) {
        if let performer { server?.note(subsystem, in: performer) }
    }

    /// Something has changed for every client of the server.
    func noteAll(_ subsystem: Subsystem) { server?.note(subsystem) }

    /// Rights that a password gives; nil: there is no such password.
    func rights(forPassword word: [UInt8]) -> Permissions? { server?.rights(forPassword: word) }
}

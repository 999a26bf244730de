import ControlProtocol
import LinuxSystem

/// Memory that a client makes the server hold.
extension Connection {
    /// The user to whom it is charged.
    static func holder(_ user: UInt32, _ rights: ClientRights) -> MemoryHolder {
        rights.isForeign ? .foreigner(user) : .owner
    }

    /// Counts it again, after each change. If a user holds too much, the server ends clients in the next turn of the loop.
    func recount() {
        guard !isClosed else { return }
        let bytes = output.unsentCount + input.count + waitingBytes
        if holding.set(bytes, sent: output.sentInAll) { server.boundMemory() }
    }
}

import LinuxSystem

/// The connections that get the player's signals.
///
/// All users share the system bus, so each signal there goes to one receiver at a time: a connection that has called the
/// player and may read. A broadcast would reach everybody.
@PlayerLoop final class SignalReceivers {
    /// The addressing of signals on a bus.
    enum Scope: Equatable, Sendable {
        /// One message to all: the bus admits only our own user and root.
        case everybody
        /// One message to each admitted connection.
        case admitted
    }

    private let scope: Scope
    /// The admitted connections by their unique names, each with the watch that ends its admission.
    private var watches: [String: BusWatch] = [:]

    /// Maximum number of admitted connections. It is below the bus's limit of matches for one connection (512).
    static let limit = 256

    /// Receivers of which none is admitted yet.
    init(_ scope: Scope) { self.scope = scope }

    /// Unique names of the admitted connections.
    var names: [String] { watches.keys.sorted() }

    /// Sends further signals to this sender too, until it leaves the bus. False: `limit` others are admitted already, or
    /// the bus cannot watch the sender.
    @discardableResult func admit(_ sender: String, _ bus: BusConnection) -> Bool {
        guard scope == .admitted, watches[sender] == nil else { return true }
        guard watches.count < Self.limit else { return false }
        watches[sender] = bus.watch(sender) { [weak self] in self?.watches[sender] = nil }
        guard watches[sender] != nil else { return false }
        // The sender may have left before the watch began. The bus answers in order, so the watch covers all later time.
        bus.ask("GetNameOwner", sender) { [weak self] answer in
            if answer?.isError ?? true { self?.watches[sender] = nil }
        }
        return true
    }

    /// Ends all admissions: another bus gives the same unique names to other connections.
    func forget() { watches = [:] }

    /// Sends a signal of the player's object. `write` adds its arguments, once for each message.
    func send(_ bus: BusConnection, _ interface: String, _ member: String, _ write: (BusMessage) -> Void) {
        switch scope {
        case .everybody:
            bus.signal(path: Introspection.path, interface: interface, member: member, to: nil, write)
        case .admitted:
            for name in names {
                bus.signal(path: Introspection.path, interface: interface, member: member, to: name, write)
            }
        }
    }
}

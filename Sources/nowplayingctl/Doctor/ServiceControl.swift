/// The service manager that runs the daemon and its companions.
enum ServiceControl {
    case system, user

    /// The manager of the daemon whose socket is at `path`.
    init(socket path: String) { self = path.hasPrefix("/run/nowplayingd/") ? .system : .user }

    /// The manager that its user would ask, if no daemon answers at any of `sockets`.
    init(sockets: [String]) {
        self = sockets.allSatisfy { Self(socket: $0) == .system } ? .system : .user
    }

    /// The command that gives it orders.
    var command: String {
        switch self {
        case .system: "sudo systemctl"
        case .user: "systemctl --user"
        }
    }
}

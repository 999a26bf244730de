import BridgeRuntime

/// The kind of service for clients of an address.
enum MPDService: Hashable, Sendable {
    case playback
    /// Clients play announcements.
    case announcements
}

/// The addresses at which the bridge takes connections.
typealias MPDListener = ConnectionListener<MPDService>

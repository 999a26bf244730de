import BridgeRuntime

/// The way in which clients of an address are served.
enum MPDService: Hashable, Sendable {
    case playback
    /// All that its clients play is an announcement.
    case announcements
}

/// The addresses at which the bridge takes connections.
typealias MPDListener = ConnectionListener<MPDService>

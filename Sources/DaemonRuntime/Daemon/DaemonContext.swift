package import ControlProtocol
package import LinuxSystem
package import NowPlaying

/// The settings that hold now: one for the whole daemon, so that no part works with those of an earlier reading.
@PlayerLoop package final class LiveConfiguration {
    /// The settings as the files were read last, those that need a restart as at the start.
    package private(set) var current: Configuration

    /// Settings as they hold at the start.
    package init(_ configuration: Configuration) { current = configuration }

    /// Takes over the settings of a new reading that may change while the daemon runs.
    package func reload(from configuration: Configuration) { current.reload(from: configuration) }
}

/// Environment of the player.
@PlayerLoop package struct DaemonContext {
    package let loop: EventLoop
    /// The settings as the files have them by now; asked anew wherever one is used.
    package var configuration: Configuration { settings.current }
    /// Holds the settings for all copies of this context.
    package let settings: LiveConfiguration
    /// This run of the daemon: random, as states carry it.
    package let instance: String
    /// The folder of what the daemon keeps; it exists and is this daemon's alone.
    package let stateDirectory: String
    /// The folder of what can be had again; it need not exist. Nil: there is none.
    package let cacheDirectory: String?
    /// Writes anchors as the wire has them.
    package let encoder: StateEncoder
    /// Sends a state to all subscribers, and keeps it for requests. To be called with a first state before the
    /// handler is returned.
    package let publish: @PlayerLoop (NowPlayingState) -> Void
    /// Makes this session, which has published a state, the active one.
    package let activate: @PlayerLoop (String) -> Void
    /// Hides a session from clients that do not name it, from its first state on.
    package let hideSession: @PlayerLoop (String) -> Void
    /// There is no such session any more; it is not the one that is followed.
    package let forgetSession: @PlayerLoop (String) -> Void
    /// Sends a request to a client, by the number of its connection, and gives it so many seconds; nil: no answer came.
    package let callClient:
        @PlayerLoop (Int, String, JSONObject, Double, @escaping @PlayerLoop (RPCResponse?) -> Void) -> Void
    /// Makes requests wait (true) or carries out those that have waited (false).
    package let holdRequests: @PlayerLoop (Bool) -> Void
}

import LinuxSystem
import NowPlaying
import Sessions

/// Follows published states for the service manager and for the end of a daemon that nobody needs.
@PlayerLoop final class DaemonWatch: BoardObserver {
    private let status = ServiceStatus()
    /// Ends the daemon when nobody needs it; nil: nobody would start it again.
    var idleExit: IdleExit?

    func statePublished() { idleExit?.consider() }

    func activeStateChanged(_ state: NowPlayingState) { status.show(state) }
}

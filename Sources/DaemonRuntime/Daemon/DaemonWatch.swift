import LinuxSystem
import NowPlaying
import Sessions

/// Follows published states for the service manager and for the end of an unused daemon.
@PlayerLoop final class DaemonWatch: BoardObserver {
    private let status = ServiceStatus()
    /// Ends an unused daemon; nil: no service manager would start it again.
    var idleExit: IdleExit?

    func statePublished() { idleExit?.consider() }

    func activeStateChanged(_ state: NowPlayingState) { status.show(state) }
}

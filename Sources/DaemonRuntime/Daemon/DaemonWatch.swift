import LinuxSystem
import NowPlaying
import Sessions

/// Follows published states for the service manager and for the end of an unused daemon.
@PlayerLoop final class DaemonWatch: BoardObserver {
    private let status = ServiceStatus()
    /// Ends an unused daemon; nil: no service manager would start it again.
    private var idleExit: IdleExit?
    /// State that the service manager has not got yet.
    private var newest: NowPlayingState?

    /// Ends the daemon by this rule while it is unused, after `seconds`.
    func begin(_ idleExit: IdleExit, seconds: Double?) {
        idleExit.setLimit(seconds)
        self.idleExit = idleExit
    }

    /// Sets the seconds unused after which the daemon ends; nil: it stays.
    func setIdleLimit(_ seconds: Double?) { idleExit?.setLimit(seconds) }

    /// Ends the rule for an unused daemon.
    func endIdleExit() { idleExit = nil }

    /// Handles a client that has connected or disconnected.
    func clientCountChanged() { idleExit?.consider() }

    func statePublished() { idleExit?.consider() }

    /// Shows the newest state in the next turn of the loop: after the state was sent to subscribers.
    func activeStateChanged(_ state: NowPlayingState) {
        let isScheduled = newest != nil
        newest = state
        guard !isScheduled else { return }
        EventLoop.current.later { [self] in
            if let newest { status.show(newest) }
            newest = nil
        }
    }
}

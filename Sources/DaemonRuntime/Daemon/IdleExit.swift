package import LinuxSystem
import NowPlaying

/// Ends the daemon when it has been unused for a while, if the service manager keeps its socket: the next client starts
/// the daemon again. An idle daemon keeps one deadline and nothing else.
@PlayerLoop package final class IdleExit {
    /// Questions to the daemon about itself.
    package struct Questions {
        /// True if a client is connected or something plays.
        package var isNeeded: @PlayerLoop () -> Bool
        /// True while saved state is being read, or a client is connecting; the check is repeated after it.
        package var isSettling: @PlayerLoop () -> Bool
        /// True if an end now would lose something.
        package var wouldLose: @PlayerLoop () -> Bool

        /// Questions, by their parts.
        package init(
            isNeeded: @escaping @PlayerLoop () -> Bool, isSettling: @escaping @PlayerLoop () -> Bool,
            wouldLose: @escaping @PlayerLoop () -> Bool
        ) {
            self.isNeeded = isNeeded
            self.isSettling = isSettling
            self.wouldLose = wouldLose
        }
    }

    private let loop: EventLoop
    private let questions: Questions
    private let end: @PlayerLoop () -> Void
    private var deadline: EventSource?

    /// Seconds unused after which the daemon ends; nil: it stays.
    private var seconds: Double?

    /// Keeps the daemon until a limit is set; `end` ends the daemon.
    package init(_ loop: EventLoop, _ questions: Questions, end: @escaping @PlayerLoop () -> Void) {
        self.loop = loop
        self.questions = questions
        self.end = end
    }

    /// Sets the seconds unused after which the daemon ends; nil: it stays.
    package func setLimit(_ seconds: Double?) {
        guard seconds != self.seconds else { return }
        self.seconds = seconds
        deadline = nil
        consider()
    }

    /// Call it whenever a client has connected or disconnected, or a state was published.
    package func consider() {
        guard let seconds else { return }
        if questions.isNeeded() {
            deadline = nil
        } else if deadline == nil {
            deadline = loop.deadline(EventLoop.now.advanced(bySeconds: seconds)) { [unowned self] in passed() }
        }
    }

    private func passed() {
        deadline = nil
        // The end of a client or the next state repeats the check.
        guard !questions.isNeeded() else { return }
        guard !questions.wouldLose() else {
            return Log.debug("idle, but ending now would lose state: the daemon keeps running")
        }
        if questions.isSettling() { consider() } else { end() }
    }
}

package import LinuxSystem
import NowPlaying

/// Ends the daemon when nobody has needed it for a while. For one whose socket the service manager keeps: the next client
/// starts it again. While nothing happens, one deadline is all there is.
@PlayerLoop package final class IdleExit {
    /// What the daemon is asked about itself.
    package struct Questions {
        /// Whether a client is there or something plays.
        package var isNeeded: @PlayerLoop () -> Bool
        /// Whether what was before is still being read, or somebody is just coming: a look later will tell.
        package var isSettling: @PlayerLoop () -> Bool
        /// Whether something would be lost.
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

    /// Seconds without need after which the daemon ends; nil: it stays.
    package var seconds: Double? {
        didSet {
            guard seconds != oldValue else { return }
            deadline = nil
            consider()
        }
    }

    /// Stays until `seconds` says otherwise; `end` ends the daemon.
    package init(_ loop: EventLoop, _ questions: Questions, end: @escaping @PlayerLoop () -> Void) {
        self.loop = loop
        self.questions = questions
        self.end = end
    }

    /// To be called whenever a client has come or gone, or a state was published.
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
        // Whatever ends that is told by a client, or by a state.
        guard !questions.isNeeded() else { return }
        guard !questions.wouldLose() else {
            return Log.debug("idle, but ending now would lose state: the daemon keeps running")
        }
        if questions.isSettling() { consider() } else { end() }
    }
}

package import LinuxSystem
import NowPlaying

/// Ends the daemon when nobody has needed it for a while. For one whose socket the service manager keeps: the next client
/// starts it again. While nothing happens, one deadline is all there is.
@PlayerLoop package final class IdleExit {
    /// Questions to the daemon about itself.
    package struct Questions {
        /// True if a client is connected or something plays.
        package var isNeeded: @PlayerLoop () -> Bool
        /// True while saved state is being read, or a client is connecting: another check follows.
        package var isSettling: @PlayerLoop () -> Bool
        /// True if ending would lose something.
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
        // A client's end or a state announces the next chance.
        guard !questions.isNeeded() else { return }
        guard !questions.wouldLose() else {
            return Log.debug("idle, but ending now would lose state: the daemon keeps running")
        }
        if questions.isSettling() { consider() } else { end() }
    }
}

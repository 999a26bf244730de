import LinuxSystem

/// Follows the feedback of all items at the daemon, whichever program changes it.
@PlayerLoop final class FeedbackWatch {
    private let link: CallerLink

    /// A watch of a daemon at one of these paths. `onChange` is called at each change.
    init(_ loop: EventLoop, paths: [String], _ onChange: @escaping @PlayerLoop () -> Void) {
        link = CallerLink(loop, .daemon, paths: paths, for: .own)
        link.onNotification = { name, _ in if name == "feedback.changed" { onChange() } }
    }

    /// Follows the daemon, which is there now, at first or again.
    func begin() {
        link.call("feedback.subscribe") { [weak self] result in
            // The connection to the daemon before this one may end only now.
            guard case .failure = result else { return }
            self?.link.call("feedback.subscribe") { _ in }
        }
    }
}

import LinuxSystem

/// Follows the daemon's feedback of all items. Any program may change it.
@PlayerLoop final class FeedbackWatch {
    private let link: CallerLink

    /// A watch of a daemon at one of these paths. `onChange` is called at each change.
    init(_ loop: EventLoop, paths: [String], _ onChange: @escaping @PlayerLoop () -> Void) {
        link = CallerLink(loop, .daemon, paths: paths, for: .own)
        link.onNotification = { name, _ in if name == "feedback.changed" { onChange() } }
    }

    /// Subscribes at the daemon's start or return.
    func begin() {
        link.call("feedback.subscribe") { [weak self] result in
            // The end of the connection to the earlier daemon may be noticed only now.
            guard case .failure = result else { return }
            self?.link.call("feedback.subscribe") { _ in }
        }
    }
}

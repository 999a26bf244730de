import LinuxSystem
import NowPlaying

/// A requested change of the flow alone: resume, hold or halt.
@PlayerLoop final class FlowChange {
    let cause: Cause
    let reason: ChangeReason?
    let by: Originator?
    private var waiters: [Waiter]
    /// Anchor of the rest position, unless a reading provides a better one; nil: the position that listeners compute.
    private(set) var anchor: PlaybackAnchor?
    private var deadline: EventSource?

    /// A change that is published with this cause when the server has made it, and its waiters.
    init(cause: Cause, reason: ChangeReason?, by: Originator?, waiters: [Waiter]) {
        self.cause = cause
        self.reason = reason
        self.by = by
        self.waiters = waiters
    }

    /// Sets the rest position, unless a reading provides a better one. `others` are answered first.
    func stand(at anchor: PlaybackAnchor, before others: [Waiter]) {
        self.anchor = anchor
        waiters = others + waiters
    }

    /// Adds waiters before and after the present ones.
    func add(before: [Waiter] = [], after: [Waiter] = []) { waiters = before + waiters + after }

    /// Returns and clears the waiters.
    func takeWaiters() -> [Waiter] {
        defer { waiters = [] }
        return waiters
    }

    /// True while a deadline answers the waiters.
    var hasDeadline: Bool { deadline != nil }

    /// Calls back once after `seconds`, unless the change is over.
    func setDeadline(_ loop: EventLoop, seconds: Double, _ passed: @escaping @PlayerLoop () -> Void) {
        deadline = loop.deadline(EventLoop.now.advanced(bySeconds: seconds)) { [unowned self] in
            deadline = nil
            passed()
        }
    }

    /// Cancels the deadline.
    func cancelDeadline() {
        deadline?.release()
        deadline = nil
    }
}

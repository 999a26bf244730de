import LinuxSystem
import NowPlaying

/// A change of the flow alone that was asked of the server: resume, hold or halt.
@PlayerLoop final class FlowChange {
    let cause: Cause
    let reason: ChangeReason?
    let by: Originator?
    private var waiters: [Waiter]
    /// Where it stands, unless a reading says more; nil: where listeners think.
    private(set) var place: PlaybackAnchor?
    private var deadline: EventSource?

    /// A change that is published with this cause once the server has done it, and those who wait for it.
    init(cause: Cause, reason: ChangeReason?, by: Originator?, waiters: [Waiter]) {
        self.cause = cause
        self.reason = reason
        self.by = by
        self.waiters = waiters
    }

    /// It stands here, unless a reading says more. `others` wait for it first.
    func stand(at place: PlaybackAnchor, before others: [Waiter]) {
        self.place = place
        waiters = others + waiters
    }

    /// Others wait for it, before and after those who do.
    func add(before: [Waiter] = [], after: [Waiter] = []) { waiters = before + waiters + after }

    /// Answers once those who wait.
    func takeWaiters() -> [Waiter] {
        defer { waiters = [] }
        return waiters
    }

    /// True while those who wait are answered in time.
    var hasDeadline: Bool { deadline != nil }

    /// Calls back once after so many seconds, unless it is over by then.
    func setDeadline(_ loop: EventLoop, seconds: Double, _ passed: @escaping @PlayerLoop () -> Void) {
        deadline = loop.deadline(EventLoop.now.advanced(bySeconds: seconds)) { [unowned self] in
            deadline = nil
            passed()
        }
    }

    /// Nobody waits for it in time.
    func cancelDeadline() {
        deadline?.release()
        deadline = nil
    }
}

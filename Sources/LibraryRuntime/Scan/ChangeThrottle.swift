import LinuxSystem
import NowPlaying

/// Passes changes on at most once a second.
@PlayerLoop final class ChangeThrottle {
    private let loop: EventLoop
    private let handler: @PlayerLoop () -> Void
    private var last: MonotonicTime?
    private var due: EventSource?

    /// Calls `handler` on the loop.
    init(_ loop: EventLoop, _ handler: @escaping @PlayerLoop () -> Void) {
        self.loop = loop
        self.handler = handler
    }

    isolated deinit { due?.release() }

    /// Notes a change: calls the handler now, or a second after its last call.
    func note() {
        guard due == nil else { return }
        guard let last, EventLoop.now.seconds(since: last) < 1 else { return noteNow() }
        due = loop.deadline(last.advanced(bySeconds: 1)) { [unowned self] in noteNow() }
    }

    /// Notes a change that must not wait: calls the handler now.
    func noteNow() {
        due?.release()
        due = nil
        last = EventLoop.now
        handler()
    }
}

import Glibc
package import LinuxSystem
import NowPlaying

/// The pause of a listening socket when descriptors or memory are exhausted: the kernel would report its connections again and
/// again. The timer exists from the start, when descriptors are left.
@PlayerLoop package final class AcceptPause {
    private let timer: EventSource

    /// Seconds of a pause.
    private static let seconds = 1.0

    /// A pause that has not begun. `resume` is called at the end of each.
    package init(_ loop: EventLoop, _ resume: @escaping @PlayerLoop () -> Void) {
        timer = loop.deadline(EventLoop.now.advanced(bySeconds: Self.seconds), resume)
        timer.setEnabled(false)
    }

    /// Begins a pause.
    package func begin() { timer.setDeadline(EventLoop.now.advanced(bySeconds: Self.seconds)) }

    /// True for an error after which the next connection may work at once.
    package nonisolated static func passes(_ error: SystemError) -> Bool {
        switch error.code {
        case EAGAIN, EINTR, ECONNABORTED: true
        case _: false
        }
    }
}

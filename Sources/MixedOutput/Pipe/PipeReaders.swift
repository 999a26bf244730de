import CLinux
import Glibc
import LinuxSystem

/// Watches for programs that open a FIFO (inotify); it causes no wakeup before.
@PlayerLoop final class PipeReaders {
    private let inotify: Int32
    private var source: EventSource?

    /// Calls `handler` after each opening of this FIFO by any program. Nil: it cannot be watched.
    init?(_ loop: EventLoop, _ path: String, _ handler: @escaping @PlayerLoop () -> Void) {
        inotify = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard inotify >= 0 else { return nil }
        guard inotify_add_watch(inotify, path, UInt32(IN_OPEN)) >= 0 else {
            close(inotify)
            return nil
        }
        source = loop.watch(inotify, EPOLLIN.rawValue) { [unowned self] _ in
            empty()
            handler()
        }
    }

    isolated deinit {
        source?.release()
        close(inotify)
    }

    private func empty() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while read(inotify, &buffer, buffer.count) > 0 {}
    }
}

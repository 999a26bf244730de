import CLinux
import Glibc
import NowPlaying

/// Watches for changes of this machine's links, addresses and routes while the object lives. It wakes only for changes.
@PlayerLoop package final class NetworkWatch {
    private let descriptor: Int32
    private var source: EventSource?
    private var settling: EventSource?

    /// Seconds after a change in which further changes belong to it: a link that comes up gets an address and routes next.
    private static let settlingSeconds = 0.5

    /// Calls `handler` on the loop after each change, once for changes that belong together. Nil: the kernel reports none.
    package init?(_ loop: EventLoop, _ handler: @escaping @PlayerLoop () -> Void) {
        descriptor = linux_network_changes()
        guard descriptor >= 0 else { return nil }
        source = loop.watch(descriptor, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in
            // The kind of change does not matter. ENOBUFS means that messages were lost: a change, too.
            var bytes: (UInt64, UInt64) = (0, 0)
            while recv(descriptor, &bytes, MemoryLayout.size(ofValue: bytes), 0) > 0 || errno == ENOBUFS { errno = 0 }
            guard settling == nil else { return }
            settling = loop.deadline(EventLoop.now.advanced(bySeconds: Self.settlingSeconds)) { [unowned self] in
                settling = nil
                handler()
            }
        }
        if source == nil { return nil }
    }

    isolated deinit {
        source?.release()
        settling?.release()
        if descriptor >= 0 { close(descriptor) }
    }
}

import CLinux
import Glibc
import Synchronization

/// Wakes the player's loop from another thread by an eventfd. Notifications before the loop runs are merged into one
/// call.
///
/// The last reference may be released on any thread; an earlier notification may still call the handler once.
package final class LoopSignal: Sendable {
    /// Shared with the watch, which the loop releases later than the thread releases the signal: while epoll watches a
    /// descriptor, its number must not belong to another file.
    private final class Shared: Sendable {
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        let pending = Atomic<Bool>(false)
        deinit { close(descriptor) }
    }

    private let shared = Shared()
    @PlayerLoop private var source: EventSource?

    /// Calls `handler` on the loop after `notify`.
    @PlayerLoop package init(_ loop: EventLoop, _ handler: @escaping @PlayerLoop () -> Void) {
        precondition(shared.descriptor >= 0, "no eventfd can be had: out of descriptors")
        source = loop.watch(shared.descriptor, UInt32(EPOLLIN.rawValue)) { [shared] _ in
            var count: UInt64 = 0
            _ = read(shared.descriptor, &count, 8)
            // Cleared before the handler runs, so that a notification meanwhile causes another call. An exchange, as it must
            // read what the notifiers have written: the handler sees everything before their notifications, even of those
            // that wrote no count.
            _ = shared.pending.exchange(false, ordering: .sequentiallyConsistent)
            handler()
        }
    }

    /// Makes the loop call the handler soon. From any thread; never blocks.
    package func notify() {
        guard !shared.pending.exchange(true, ordering: .sequentiallyConsistent) else { return }
        var one: UInt64 = 1
        _ = write(shared.descriptor, &one, 8)
    }

    /// Ends the signal; no handler call follows.
    @PlayerLoop package func cancel() { source = nil }
}

import CLinux
import Glibc
import Synchronization

/// Wakes the player's loop from another thread: an eventfd. Any number of notifications before the loop runs are one call.
package final class LoopSignal: Sendable {
    private let descriptor: Int32
    private let pending = Atomic<Bool>(false)
    @PlayerLoop private var source: EventSource?

    /// Calls `handler` on the loop after `notify`.
    @PlayerLoop package init(_ loop: EventLoop, _ handler: @escaping @PlayerLoop () -> Void) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        precondition(descriptor >= 0, "no eventfd can be had: out of descriptors")
        let descriptor = descriptor
        source = loop.watch(descriptor, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in
            var count: UInt64 = 0
            _ = read(descriptor, &count, 8)
            // Cleared before the handler looks, so that what comes meanwhile is another call.
            self.pending.store(false, ordering: .sequentiallyConsistent)
            handler()
        }
    }

    /// Makes the loop call the handler soon. From any thread; never blocks.
    package func notify() {
        guard !pending.exchange(true, ordering: .sequentiallyConsistent) else { return }
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Ends it; no handler call comes after.
    @PlayerLoop package func cancel() { source = nil }

    deinit { close(descriptor) }
}

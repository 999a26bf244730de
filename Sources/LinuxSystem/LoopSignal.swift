import CLinux
import Glibc
import Synchronization

/// Wakes the player's loop from another thread: an eventfd. Any number of notifications before the loop runs are one call.
package final class LoopSignal: Sendable {
    /// Held by the watch as well, so that it is closed when both are gone: a number that epoll still watches must not be
    /// given to another file.
    private final class Descriptor: Sendable {
        let number = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        deinit { close(number) }
    }

    private let descriptor = Descriptor()
    private let pending = Atomic<Bool>(false)
    @PlayerLoop private var source: EventSource?

    /// Calls `handler` on the loop after `notify`.
    @PlayerLoop package init(_ loop: EventLoop, _ handler: @escaping @PlayerLoop () -> Void) {
        precondition(descriptor.number >= 0, "no eventfd can be had: out of descriptors")
        let descriptor = descriptor
        source = loop.watch(descriptor.number, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in
            var count: UInt64 = 0
            _ = read(descriptor.number, &count, 8)
            // Cleared before the handler looks, so that what comes meanwhile is another call.
            self.pending.store(false, ordering: .sequentiallyConsistent)
            handler()
        }
    }

    /// Makes the loop call the handler soon. From any thread; never blocks.
    package func notify() {
        guard !pending.exchange(true, ordering: .sequentiallyConsistent) else { return }
        var one: UInt64 = 1
        _ = write(descriptor.number, &one, 8)
    }

    /// Ends it; no handler call comes after.
    @PlayerLoop package func cancel() { source = nil }
}

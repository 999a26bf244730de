import CLinux
import Glibc
import LinuxSystem
import Synchronization

/// A thread that wakes the readers of clock pages. With thousands of readers that takes milliseconds, too long for the
/// loop. It sleeps until a page has changed, and ends with its owner.
final class ClockWaker: Sendable {
    /// Shared with the thread, which outlives the owner for a moment.
    private final class Shared: Sendable {
        let orders = eventfd(0, Int32(EFD_CLOEXEC))
        let state = Mutex<State>(State())
        deinit { close(orders) }
    }

    private struct State {
        /// Pages that have changed, each once.
        var changed: [ClockMemory] = []
        var isEnding = false
    }

    private let shared = Shared()

    /// Starts the thread. Nil: the system has no more threads or descriptors.
    init?() {
        let shared = shared
        guard shared.orders >= 0, DetachedThread.start("clock waker", { Self.run(shared) }) else { return nil }
    }

    /// Wakes the readers of a page soon. Any thread; never blocks.
    func wake(_ page: ClockMemory) {
        order { state in
            if !state.changed.contains(where: { $0 === page }) { state.changed.append(page) }
        }
    }

    private func order(_ change: (inout State) -> Void) {
        shared.state.withLock { change(&$0) }
        var one: UInt64 = 1
        _ = write(shared.orders, &one, 8)
    }

    private static func run(_ shared: Shared) {
        while true {
            var count: UInt64 = 0
            _ = read(shared.orders, &count, 8)
            let (pages, isEnding) = shared.state.withLock { state in
                defer { state.changed = [] }
                return (state.changed, state.isEnding)
            }
            for page in pages { page.wake() }
            if isEnding { return }
        }
    }

    deinit { order { $0.isEnding = true } }
}

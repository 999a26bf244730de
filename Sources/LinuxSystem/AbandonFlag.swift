import Synchronization

/// Control of work on another thread: the worker counts its steps here, and another thread abandons or interrupts the
/// work. Any thread.
package final class AbandonFlag: Sendable {
    private let value = Atomic<Bool>(false)
    private let interruption = Atomic<Bool>(false)
    private let steps = Atomic<Int>(0)

    /// Not set.
    package init() {}

    /// True if the work should stop.
    package var isSet: Bool { value.load(ordering: .acquiring) }

    /// Abandons the work.
    package func set() { value.store(true, ordering: .releasing) }

    /// Ends the present step and refuses further ones, until `resume`.
    package func interrupt() { interruption.store(true, ordering: .releasing) }

    /// Allows steps again after `interrupt`.
    package func resume() { interruption.store(false, ordering: .releasing) }

    /// Counts a step before the work makes it; true: the work must not make it.
    package func step() -> Bool {
        steps.add(1, ordering: .relaxed)
        return isSet || interruption.load(ordering: .acquiring)
    }

    /// Steps so far. If the count is the same for seconds, the work hangs.
    package var stepCount: Int { steps.load(ordering: .relaxed) }
}

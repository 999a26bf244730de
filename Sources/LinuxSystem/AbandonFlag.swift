import Synchronization

/// Work on one thread for somebody on another: the one counts its steps here, the other gives it up or interrupts it. Any
/// thread.
package final class AbandonFlag: Sendable {
    private let value = Atomic<Bool>(false)
    private let interruption = Atomic<Bool>(false)
    private let steps = Atomic<Int>(0)

    /// Not set.
    package init() {}

    /// True if the work should stop.
    package var isSet: Bool { value.load(ordering: .acquiring) }

    /// From now on the work is for nobody.
    package func set() { value.store(true, ordering: .releasing) }

    /// Ends the step under way, until `resume`: something else is wanted first.
    package func interrupt() { interruption.store(true, ordering: .releasing) }

    /// Steps are made again.
    package func resume() { interruption.store(false, ordering: .releasing) }

    /// Counts a step, before it is made; true: it is not to be made.
    package func step() -> Bool {
        steps.add(1, ordering: .relaxed)
        return isSet || interruption.load(ordering: .acquiring)
    }

    /// Steps so far. Work whose count stands still for seconds hangs.
    package var stepCount: Int { steps.load(ordering: .relaxed) }
}

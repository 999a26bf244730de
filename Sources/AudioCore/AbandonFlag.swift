import Synchronization

/// Set once, when nobody waits for the work any more. Any thread.
package final class AbandonFlag: Sendable {
    private let value = Atomic<Bool>(false)

    /// Not set.
    package init() {}

    /// Whether to give up.
    package var isSet: Bool { value.load(ordering: .acquiring) }

    /// From now on the work is for nobody.
    package func set() { value.store(true, ordering: .releasing) }
}

import NowPlaying
import Synchronization

/// The way of a database from an earlier version of its tables to the present one, as other threads see it. Any thread.
package final class UpgradeProgress: Sendable {
    private let rows = Atomic<Int>(0)
    private let all = Atomic<Int>(0)
    private let abandoned = Atomic<Bool>(false)
    private let notified = Mutex(MonotonicTime.now)
    private let notify: @Sendable () -> Void

    /// Rows between two looks at the clock.
    private static let stride = 4096
    /// Seconds between two calls of `notify`.
    private static let interval = 1.0

    /// Nothing is done yet. `notify` is called on the thread of the work about once a second.
    package init(_ notify: @escaping @Sendable () -> Void = {}) { self.notify = notify }

    /// Rows that are done.
    package var done: Int { min(rows.load(ordering: .relaxed), total) }
    /// Rows in all, about.
    package var total: Int { all.load(ordering: .relaxed) }
    /// True if the work is to end.
    package var isAbandoned: Bool { abandoned.load(ordering: .relaxed) }

    /// Ends the work soon; the database stays as it is.
    package func abandon() { abandoned.store(true, ordering: .relaxed) }

    /// The work begins, once more after a failure.
    func begin(total: Int) {
        rows.store(0, ordering: .relaxed)
        all.store(total, ordering: .relaxed)
    }

    /// A row is done.
    func count() {
        let number = rows.add(1, ordering: .relaxed).newValue
        guard number % Self.stride == 0 else { return }
        let isDue = notified.withLock { notified in
            let now = MonotonicTime.now
            guard now.seconds(since: notified) >= Self.interval else { return false }
            notified = now
            return true
        }
        if isDue { notify() }
    }

    /// All is done.
    func finish() { rows.store(total, ordering: .relaxed) }
}

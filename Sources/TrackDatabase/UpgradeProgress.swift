import NowPlaying
import Synchronization

/// The progress of an upgrade of the tables, for other threads. Any thread.
package final class UpgradeProgress: Sendable {
    private let rows = Atomic<Int>(0)
    private let all = Atomic<Int>(0)
    private let abandoned = Atomic<Bool>(false)
    private let notified = Mutex(MonotonicTime.now)
    private let notify: @Sendable () -> Void

    /// Rows between two checks of the clock.
    private static let stride = 4096
    /// Seconds between two calls of `notify`.
    private static let interval = 1.0

    /// No rows done. `notify` is called on the thread of the work about once a second.
    package init(_ notify: @escaping @Sendable () -> Void = {}) { self.notify = notify }

    /// Finished rows.
    package var done: Int { min(rows.load(ordering: .relaxed), total) }
    /// Approximate number of rows in all.
    package var total: Int { all.load(ordering: .relaxed) }
    /// True if the work must end.
    package var isAbandoned: Bool { abandoned.load(ordering: .relaxed) }

    /// Ends the work soon; the database stays unchanged.
    package func abandon() { abandoned.store(true, ordering: .relaxed) }

    /// Starts the count, again after a failure.
    func begin(total: Int) {
        rows.store(0, ordering: .relaxed)
        all.store(total, ordering: .relaxed)
    }

    /// Counts a finished row.
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

    /// Counts all rows as finished.
    func finish() { rows.store(total, ordering: .relaxed) }
}

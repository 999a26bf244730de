import LinuxSystem
import NowPlaying
import Synchronization

/// Counts of a running scan. Any thread.
final class ScanProgress: Sendable {
    /// One count.
    enum Count: Int, CaseIterable {
        /// Files that were compared, and read if necessary.
        case done
        case added, changed, moved, missing, faults
    }

    private struct State {
        var counts = [Int](repeating: 0, count: Count.allCases.count)
        var phase = ScanReport.Phase.walk
        var total: Int?
        var begin = MonotonicTime.now
        var notified = MonotonicTime.now
    }

    private let state = Mutex(State())
    private let notify: @Sendable () -> Void

    /// All counts are 0. `notify` is called on any thread after progress, about once a second.
    init(_ notify: @escaping @Sendable () -> Void) { self.notify = notify }

    /// Adds to a count.
    func add(_ count: Count, _ number: Int = 1) {
        let isDue = state.withLock { state in
            state.counts[count.rawValue] += number
            guard count == .done, case let now = MonotonicTime.now, now.seconds(since: state.notified) >= 1 else {
                return false
            }
            state.notified = now
            return true
        }
        if isDue { notify() }
    }

    /// Starts a stage of `total` files; nil: the number is unknown.
    func enter(_ phase: ScanReport.Phase, total: Int?) {
        state.withLock { state in
            state.phase = phase
            state.total = total
            if phase != .walk { state.counts[Count.done.rawValue] = 0 }
            state.begin = .now
        }
        notify()
    }

    /// A present count.
    subscript(count: Count) -> Int { state.withLock { $0.counts[count.rawValue] } }

    /// The present progress.
    var report: ScanReport.Progress {
        state.withLock { state in
            let done = state.counts[Count.done.rawValue]
            let seconds = MonotonicTime.now.seconds(since: state.begin)
            let rate = seconds > 0 ? Double(done) / seconds : 0
            let total = state.total.map { max($0, done) }
            return ScanReport.Progress(
                phase: state.phase, done: done, total: total, rate: rate,
                timeLeft: rate > 0 ? total.map { Double($0 - done) / rate } : nil)
        }
    }
}

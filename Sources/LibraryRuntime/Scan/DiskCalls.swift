import Synchronization

/// Calls of threads into the disks of the library. A call that does not return shows here. Any thread.
final class DiskCalls: Sendable {
    /// The calls of one thread.
    final class Line: Sendable {
        /// Number of the call times 65,536, and the index of its root from 1 on while it is under way.
        private let state = Atomic<UInt64>(0)

        /// No call is under way.
        fileprivate init() {}

        /// Carries out a call into the disk of a root; not nested.
        func call<Result, Failure: Error>(
            _ root: Int, _ body: () throws(Failure) -> Result
        ) throws(Failure) -> Result {
            let before = state.load(ordering: .relaxed)
            state.store(before &+ UInt64(root + 1), ordering: .releasing)
            defer { state.store(before &+ DiskCalls.step, ordering: .releasing) }
            return try body()
        }

        /// The call under way, which no other is equal to; nil: none is.
        fileprivate var present: Call? {
            let value = state.load(ordering: .acquiring)
            let root = Int(value % DiskCalls.step)
            return root > 0 ? Call(number: value, root: root - 1) : nil
        }
    }

    /// A call under way.
    struct Call: Equatable {
        fileprivate let number: UInt64
        /// Index of the root.
        let root: Int
    }

    private static let step: UInt64 = 1 << 16
    private let lines = Mutex<[Line]>([])

    /// No thread makes calls.
    init() {}

    /// A line for the calls of one more thread.
    func line() -> Line {
        let line = Line()
        lines.withLock { $0.append(line) }
        return line
    }

    /// The calls under way, by the threads in the order of their lines.
    var present: [Call?] { lines.withLock { $0.map(\.present) } }
}

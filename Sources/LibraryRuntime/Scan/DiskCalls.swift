import Synchronization

/// Running calls of threads into the disks of the library, to detect a call that does not return. Any thread.
final class DiskCalls: Sendable {
    /// The calls of one thread.
    final class Line: Sendable {
        /// Number of the call times 65,536, plus the index of its root from 1 on during the call.
        private let state = Atomic<UInt64>(0)

        /// No call is running.
        fileprivate init() {}

        /// Makes a call into the disk of a root; not nested.
        func call<Result, Failure: Error>(
            _ root: Int, _ body: () throws(Failure) -> Result
        ) throws(Failure) -> Result {
            let before = state.load(ordering: .relaxed)
            state.store(before &+ UInt64(root + 1), ordering: .releasing)
            defer { state.store(before &+ DiskCalls.step, ordering: .releasing) }
            return try body()
        }

        /// The running call, which is unique; nil: none.
        fileprivate var present: Call? {
            let value = state.load(ordering: .acquiring)
            let root = Int(value % DiskCalls.step)
            return root > 0 ? Call(number: value, root: root - 1) : nil
        }
    }

    /// A running call.
    struct Call: Equatable {
        fileprivate let number: UInt64
        /// Index of the root.
        let root: Int
    }

    private static let step: UInt64 = 1 << 16
    private let lines = Mutex<[Line]>([])

    /// Without threads.
    init() {}

    /// Adds a line for the calls of one more thread.
    func line() -> Line {
        let line = Line()
        lines.withLock { $0.append(line) }
        return line
    }

    /// The running calls of the threads, in the order of their lines.
    var present: [Call?] { lines.withLock { $0.map(\.present) } }
}

import Glibc
import Synchronization

/// Work in several threads at once, for a caller that waits for all of it.
package enum Parallel {
    /// Hands out the work, collects the threads' results, and signals when they are complete.
    private final class Collection<Result: Sendable>: Sendable {
        private let results: Mutex<[Result?]>
        private let taken = Atomic<Int>(0)
        private let count: Int
        private nonisolated(unsafe) let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

        init(_ count: Int) {
            self.count = count
            results = Mutex(Array(repeating: nil, count: count))
            sem_init(semaphore, 0, 0)
        }

        deinit {
            sem_destroy(semaphore)
            semaphore.deallocate()
        }

        /// Does work that no thread has taken, until there is none.
        func serve(_ body: (Int) -> Result) {
            while true {
                let index = taken.add(1, ordering: .relaxed).oldValue
                guard index < count else { return }
                let result = body(index)
                results.withLock { $0[index] = result }
                sem_post(semaphore)
            }
        }

        func wait() -> [Result] {
            for _ in 0..<count { while sem_wait(semaphore) != 0 && errno == EINTR {} }
            return results.withLock { $0.compactMap { $0 } }
        }
    }

    /// Results of `body` for 0, 1 … `count` − 1, in this order. The calling thread blocks. It and others, at most
    /// `threads` together, take the next number that is left: a thread that starts late on a busy machine delays
    /// nobody, and the calling one does all if the system has no more threads.
    package static func map<Result: Sendable>(
        _ count: Int, threads: Int = .max, _ body: @escaping @Sendable (Int) -> Result
    ) -> [Result] {
        let collection = Collection<Result>(count)
        var others = min(count, threads) - 1
        while others > 0, DetachedThread.start("parallel", { collection.serve(body) }) { others -= 1 }
        collection.serve(body)
        return collection.wait()
    }
}

import Glibc
import Synchronization

/// Work in several threads at once, for a caller that waits for all of it.
package enum Parallel {
    /// Collects the threads' results, and signals when they are complete.
    private final class Collection<Result: Sendable>: Sendable {
        private let results: Mutex<[Result?]>
        private nonisolated(unsafe) let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

        init(_ count: Int) {
            results = Mutex(Array(repeating: nil, count: count))
            sem_init(semaphore, 0, 0)
        }

        deinit {
            sem_destroy(semaphore)
            semaphore.deallocate()
        }

        func put(_ index: Int, _ result: Result) {
            results.withLock { $0[index] = result }
            sem_post(semaphore)
        }

        func wait(_ count: Int) -> [Result] {
            for _ in 0..<count { while sem_wait(semaphore) != 0 && errno == EINTR {} }
            return results.withLock { $0.compactMap { $0 } }
        }
    }

    /// Results of `body` for 0, 1 … `count` − 1, in this order. The last one runs on the calling thread, which blocks.
    /// The others run each on a thread of its own, or on the calling one if no thread is available.
    package static func map<Result: Sendable>(
        _ count: Int, _ body: @escaping @Sendable (Int) -> Result
    ) -> [Result] {
        let collection = Collection<Result>(count)
        for index in 0..<count {
            let isStarted =
                index < count - 1
                && DetachedThread.start("parallel") { collection.put(index, body(index)) }
            if !isStarted { collection.put(index, body(index)) }
        }
        return collection.wait(count)
    }
}

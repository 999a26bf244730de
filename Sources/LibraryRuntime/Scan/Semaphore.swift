import Glibc

/// A counter that threads wait for.
final class Semaphore: Sendable {
    private nonisolated(unsafe) let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    /// A counter that begins with this number.
    init(_ count: Int) { sem_init(semaphore, 0, UInt32(count)) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Counts one more.
    func post() { sem_post(semaphore) }

    /// Waits until the counter is above zero, and counts one less.
    func wait() { while sem_wait(semaphore) != 0, errno == EINTR {} }
}

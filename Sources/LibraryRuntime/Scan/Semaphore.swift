import Glibc

/// A counting semaphore.
final class Semaphore: Sendable {
    private nonisolated(unsafe) let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    /// A semaphore with this initial count.
    init(_ count: Int) { sem_init(semaphore, 0, UInt32(count)) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Adds one to the count.
    func post() { sem_post(semaphore) }

    /// Waits until the count is above zero, and subtracts one.
    func wait() { while sem_wait(semaphore) != 0, errno == EINTR {} }
}

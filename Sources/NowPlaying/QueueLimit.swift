/// Limits of a queue.
package enum QueueLimit {
    /// Maximum number of items of a queue.
    package static let items = 1_000_000
    /// Maximum bytes of the texts and addresses of all items of a queue: each accepted queue can be saved and read
    /// again.
    package static let textBytes = 256 << 20
}

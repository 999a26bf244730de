/// Limits of a queue.
package enum QueueLimit {
    /// Items of a queue, at most.
    package static let items = 1_000_000
    /// Bytes of the texts and addresses of all items of a queue, at most: each accepted queue can be saved and read again.
    package static let textBytes = 256 << 20
}

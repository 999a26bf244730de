/// Times of a Snapcast server, in seconds.
package struct SnapcastTiming: Equatable, Sendable {
    /// Its `buffer`; nil: the server is asked for it.
    package var buffer: Double?
    /// Its `chunk_ms`.
    package var chunk: Double

    /// The times of a server that was not configured otherwise.
    package static let usualBuffer = 1.0
    /// The same for its chunks.
    package static let usualChunk = 0.02

    /// Times by their values.
    package init(buffer: Double? = nil, chunk: Double = usualChunk) {
        self.buffer = buffer
        self.chunk = chunk
    }

    /// Seconds from the instant at which the server takes a frame of a chunk's beginning to its being heard: it gives the
    /// chunk the time of its beginning, and its rooms play that after the buffer.
    package func delay(buffer: Double?) -> Double { max(0, (buffer ?? Self.usualBuffer) - chunk) }
}

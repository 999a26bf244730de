/// Times of a Snapcast server, in seconds.
package struct SnapcastTiming: Equatable, Sendable {
    /// Its `buffer`; nil: the daemon requests it from the server.
    package var buffer: Double?
    /// Its `chunk_ms`.
    package var chunk: Double

    /// The default `buffer` of a server.
    package static let usualBuffer = 1.0
    /// The default `chunk_ms` of a server, in seconds.
    package static let usualChunk = 0.02

    /// Times by their values.
    package init(buffer: Double? = nil, chunk: Double = usualChunk) {
        self.buffer = buffer
        self.chunk = chunk
    }

    /// Seconds from the instant at which the server takes the first frame of a chunk until that frame is audible. The
    /// server stamps the chunk with the time of its beginning, and its rooms play it after the buffer.
    package func delay(buffer: Double?) -> Double { max(0, (buffer ?? Self.usualBuffer) - chunk) }
}

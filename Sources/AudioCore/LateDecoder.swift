package import NowPlaying

/// A decoder whose frames may come late: from a stream, or from another process. Its thread waits for `descriptor` and
/// for its own orders at the same time, so that a late source does not delay a new order.
package protocol LateDecoder: AudioDecoder {
    /// Readable when `isOpened` or `readAvailable` can continue.
    var descriptor: Int32 { get }
    /// Waits until `descriptor` is readable, for at most this many seconds; false: it is not.
    func wait(seconds: Double) -> Bool
    /// True once the source is open; `format` and `metadata` are valid from then on. Does not block. Throws the error
    /// of the opening.
    func isOpened() throws(DecodingError) -> Bool
    /// Reads as `read` does, but does not block; nil: no frames yet.
    func readAvailable(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int?
    /// True for a stream without beginning and end: no seek is possible, and a broken connection can be reopened.
    var isLive: Bool { get }
    /// Seconds of silence after which the other side counts as hung.
    var patience: Double { get }
    /// Pid of the process that decodes for it; nil: none.
    var process: Int32? { get }
}

extension LateDecoder {
    package var process: Int32? { nil }
}

extension AudioDecoder {
    package func takeMetadataChange() -> MediaMetadata? { nil }
    package var isSeekable: Bool { true }
}

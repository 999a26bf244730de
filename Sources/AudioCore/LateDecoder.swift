package import NowPlaying

/// A decoder whose frames come from elsewhere, and may be late: a stream, or another process. The thread that uses it waits
/// for `descriptor` and for its own orders at the same time, so that a late source does not delay a new order.
package protocol LateDecoder: AudioDecoder {
    /// Readable when `isOpened` or `readAvailable` can continue.
    var descriptor: Int32 { get }
    /// Waits until `descriptor` is readable, for so many seconds at most; false: it is not.
    func wait(seconds: Double) -> Bool
    /// True once the source is open; `format` and `metadata` are valid from then on. Does not block. Throws the error of
    /// the opening.
    func isOpened() throws(DecodingError) -> Bool
    /// As `read`, but does not block; nil: nothing is there yet.
    func readAvailable(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int?
    /// True for a stream without beginning and end: no seek is possible, and a broken connection can be reopened.
    var isLive: Bool { get }
    /// Seconds without a word after which the other side is given up.
    var patience: Double { get }
    /// The process that decodes for it; nil: none.
    var process: Int32? { get }
}

extension LateDecoder {
    package var process: Int32? { nil }
}

extension AudioDecoder {
    package func takeMetadataChange() -> MediaMetadata? { nil }
    package var isSeekable: Bool { true }
}

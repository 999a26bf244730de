/// Bytes that are read in their order, from one or several parts of a file.
protocol ByteSource {
    /// The next `count` bytes, or as many as are left. The position stays.
    mutating func peek(_ count: Int) throws(TrackReadingError) -> ByteView
    /// Skips `count` bytes, or to the end.
    mutating func skip(_ count: Int64) throws(TrackReadingError)
}

/// A range of a file.
struct FileStretch: ByteSource {
    let window: FileWindow
    /// Offset of the next byte in the file.
    private(set) var offset: Int64
    /// Offset after the last byte.
    let end: Int64

    /// The bytes from `offset` to before `end`.
    init(_ window: FileWindow, from offset: Int64, to end: Int64) {
        self.window = window
        self.offset = offset
        self.end = min(end, window.size)
    }

    mutating func peek(_ count: Int) throws(TrackReadingError) -> ByteView {
        try window.bytes(at: offset, count: Int(max(0, min(Int64(count), end - offset))))
    }

    mutating func skip(_ count: Int64) throws(TrackReadingError) { offset = min(end, offset + max(0, count)) }
}

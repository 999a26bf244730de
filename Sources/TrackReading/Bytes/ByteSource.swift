/// Bytes that are read from front to back, wherever in the file they stand.
protocol ByteSource {
    /// The next `count` bytes, or as many as are left, without going past them.
    mutating func peek(_ count: Int) throws(TrackReadingError) -> ByteView
    /// Goes past `count` bytes, or to the end.
    mutating func skip(_ count: Int64) throws(TrackReadingError)
}

/// A stretch of a file.
struct FileStretch: ByteSource {
    let window: FileWindow
    /// Offset of the next byte in the file.
    private(set) var offset: Int64
    /// Offset behind the last byte.
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

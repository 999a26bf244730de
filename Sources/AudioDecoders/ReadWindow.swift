import AudioCore
import Glibc

/// The bytes of a file that were read last, and the readahead that was requested for it. One `MediaFile` owns it.
final class ReadWindow {
    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: ReadWindow.byteCount, alignment: 64)
    /// Offset of `bytes` in the file, of which the first `count` are valid.
    private var start: Int64 = 0
    private var count = 0
    /// Bytes of the last fill; grows during sequential reading.
    private var fillBytes = 0
    /// End of the range for which readahead was requested.
    private var advisedEnd: Int64 = 0

    /// Maximum number of bytes.
    static let byteCount = 64 << 10
    /// Bytes to read after a seek: about two frames of FLAC.
    private static let firstFillBytes = 16 << 10
    /// Bytes of readahead to request from the kernel.
    private static let adviceBytes: Int64 = 1 << 20

    deinit { bytes.deallocate() }

    /// True if it has the byte at this offset.
    func contains(_ offset: Int64) -> Bool { offset >= start && offset < start + Int64(count) }

    /// Copies bytes from `offset` on, which is at or after the start, and returns their number.
    func copy(from offset: Int64, to target: UnsafeMutableRawBufferPointer) -> Int {
        let skip = Int(offset - start)
        let copied = min(target.count, count - skip)
        if copied <= 0 { return 0 }
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[skip..<skip + copied]))
        return copied
    }

    /// Reads from `offset` on: few bytes after a jump, more as sequential reading continues. Throws read errors.
    func fill(from offset: Int64, of file: MediaFile) throws(DecodingError) {
        let isNext = offset == start + Int64(count) && count > 0
        fillBytes = isNext ? min(Self.byteCount, fillBytes * 2) : Self.firstFillBytes
        count = 0
        if isNext { advise(from: offset, of: file) }
        start = offset
        count = try file.readNow(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<fillBytes]), at: offset)
    }

    /// Requests readahead from the kernel, once per half MiB.
    func advise(from offset: Int64, of file: MediaFile) {
        if offset < advisedEnd - Self.adviceBytes { advisedEnd = 0 }
        guard offset + Self.adviceBytes / 2 > advisedEnd, offset < file.size else { return }
        posix_fadvise(file.descriptor, off_t(offset), off_t(Self.adviceBytes), POSIX_FADV_WILLNEED)
        advisedEnd = offset + Self.adviceBytes
    }
}

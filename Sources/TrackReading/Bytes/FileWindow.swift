import CLinux
import Glibc

/// The bytes of one file after another, with few system calls: the beginning in one read, the end in another if needed,
/// and the middle in steps that grow with each read in order.
///
/// A view is valid until the next call for bytes of the middle. For any claimed size, it reads at most `maximumReads`
/// times and `maximumBytes` in all; after that the file seems to end.
final class FileWindow {
    /// Bytes of a buffer, and so of one view, at most.
    static let bufferBytes = 64 << 10
    /// Bytes of the first read.
    static let headBytes = 16 << 10
    private static let firstMiddleBytes = 4 << 10
    private static let maximumReads = 4096
    private static let maximumBytes = 16 << 20

    /// A range of the file in memory.
    private struct Stretch {
        let base = UnsafeMutablePointer<UInt8>.allocate(capacity: FileWindow.bufferBytes)
        var start: Int64 = 0
        var count = 0

        /// The bytes from `offset` on; nil: some of them are not in memory.
        func view(_ offset: Int64, _ wanted: Int) -> ByteView? {
            guard offset >= start, offset + Int64(wanted) <= start + Int64(count) else { return nil }
            return ByteView(base + Int(offset - start), count: wanted)
        }
    }

    /// Size of the file at the open.
    private(set) var size: Int64 = 0
    /// True if all fields of the tags are kept by their names.
    private(set) var keepsComments = false
    /// Reads of the file so far.
    private(set) var reads = 0
    private var descriptor: Int32 = -1
    private var head = Stretch()
    private var tail = Stretch()
    private var middle = Stretch()
    private var middleFill = FileWindow.firstMiddleBytes
    private var readBytes = 0
    /// Bytes that are joined from several pieces.
    private let gathered = UnsafeMutablePointer<UInt8>.allocate(capacity: FileWindow.bufferBytes)

    deinit {
        for base in [head.base, tail.base, middle.base, gathered] { base.deallocate() }
    }

    /// Continues with another file, and reads its beginning.
    func open(_ descriptor: Int32, keepsComments: Bool = false) throws(TrackReadingError) {
        var status = stat()
        // fstat(2) of the C library passes an empty path, which a sandbox treats like any other path.
        guard linux_status(descriptor, &status) == 0 else { throw .unreadable(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
        self.descriptor = descriptor
        self.keepsComments = keepsComments
        size = min(Int64(status.st_size), 1 << 56)
        reads = 0
        readBytes = 0
        (tail.count, middle.count) = (0, 0)
        try fill(&head, from: 0, count: Self.headBytes)
    }

    /// The `count` bytes from `offset` on; fewer at the end of the file.
    func bytes(at offset: Int64, count: Int) throws(TrackReadingError) -> ByteView {
        guard offset >= 0, offset < size, count > 0 else { return .empty }
        let wanted = Int(min(Int64(min(count, Self.bufferBytes)), size - offset))
        if let view = head.view(offset, wanted) ?? tail.view(offset, wanted) ?? middle.view(offset, wanted) {
            return view
        }
        let isNext = middle.count > 0 && offset >= middle.start && offset <= middle.start + Int64(middle.count)
        middleFill = isNext ? min(Self.bufferBytes, middleFill * 2) : Self.firstMiddleBytes
        try fill(&middle, from: offset, count: max(wanted, middleFill))
        return middle.view(offset, min(wanted, middle.count)) ?? .empty
    }

    /// The last `count` bytes of the file, or all.
    func lastBytes(_ count: Int) throws(TrackReadingError) -> ByteView {
        let wanted = min(count, Self.bufferBytes)
        let start = max(0, size - Int64(wanted))
        let length = Int(size - start)
        if let view = head.view(start, length) ?? tail.view(start, length) { return view }
        try fill(&tail, from: start, count: wanted)
        return tail.view(start, min(length, tail.count)) ?? .empty
    }

    /// Joins bytes of several pieces; the next call overwrites them.
    func gather(_ fill: (UnsafeMutableBufferPointer<UInt8>) throws(TrackReadingError) -> Int)
        throws(TrackReadingError) -> ByteView
    {
        let room = UnsafeMutableBufferPointer(start: gathered, count: Self.bufferBytes)
        return ByteView(gathered, count: min(Self.bufferBytes, try fill(room)))
    }

    private func fill(_ stretch: inout Stretch, from offset: Int64, count: Int) throws(TrackReadingError) {
        stretch.count = 0
        stretch.start = offset
        guard reads < Self.maximumReads, readBytes < Self.maximumBytes else { return }
        reads += 1
        let wanted = min(count, Self.bufferBytes)
        while true {
            let got = pread(descriptor, stretch.base, wanted, off_t(offset))
            if got >= 0 {
                stretch.count = got
                readBytes += got
                return
            }
            if errno != EINTR { throw .unreadable(errno) }
        }
    }
}

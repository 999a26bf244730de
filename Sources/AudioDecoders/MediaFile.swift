package import AudioCore
import CLinux
import Glibc

/// A regular file that is read from front to back with jumps, on the decode thread. It owns its descriptor, keeps 64
/// KiB of the file and never maps it: if another process truncated a mapped file, this process would die.
///
/// It neither uses nor moves the descriptor's file position, so a client may continue to use its own duplicate.
package final class MediaFile {
    /// Bytes that the file had when it was opened.
    package let size: Int64

    /// Bytes of the longest file that opens: 256 TiB. A sparse file can claim 8 EiB.
    static let largestSize: Int64 = 1 << 48

    /// This object closes it.
    let descriptor: Int32
    let shouldStop: @Sendable () -> Bool
    /// The bytes that were read last.
    let window = ReadWindow()

    /// Opens the file at this path, in bytes without NUL. `shouldStop` is called before each read, on the reading
    /// thread: true ends the read with an error, so that an obsolete decoder ends soon. Throws `.unavailable` or
    /// `.mediaGone`.
    package convenience init(
        pathBytes: some Sequence<UInt8>, shouldStop: @escaping @Sendable () -> Bool = { false }
    ) throws(DecodingError) {
        var path = pathBytes.map { CChar(bitPattern: $0) }
        if path.contains(0) {
            throw DecodingError(.unavailable, "its name contains a zero byte, which no file can have")
        }
        path.append(0)
        // Non-blocking, because opening a FIFO would wait for a writer. O_NOCTTY, in case the path is a terminal.
        let descriptor = linux_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0)
        guard descriptor >= 0 else {
            let code = errno
            // Opening a socket fails with the same errno as a file whose device is gone.
            var status = stat()
            if code == ENXIO, stat(path, &status) == 0, let what = Self.nameOfIrregular(status.st_mode) {
                throw Self.irregular(what)
            }
            throw Self.openingError(code)
        }
        try self.init(descriptor: descriptor, shouldStop: shouldStop)
    }

    /// The same for a path that is valid text.
    package convenience init(
        path: String, shouldStop: @escaping @Sendable () -> Bool = { false }
    ) throws(DecodingError) {
        try self.init(pathBytes: path.utf8, shouldStop: shouldStop)
    }

    /// Takes over an open descriptor, and closes it in every case. Throws `.unavailable` or `.mediaGone`.
    package init(
        descriptor: Int32, shouldStop: @escaping @Sendable () -> Bool = { false }
    ) throws(DecodingError) {
        self.descriptor = descriptor
        self.shouldStop = shouldStop
        var status = stat()
        guard linux_status(descriptor, &status) == 0 else {
            size = 0
            throw Self.openingError(errno)
        }
        size = Int64(status.st_size)
        if let what = Self.nameOfIrregular(status.st_mode) { throw Self.irregular(what) }
        guard size <= Self.largestSize else {
            throw DecodingError(.broken, "it claims \(size) bytes; files of more than 256 TiB are not opened")
        }
        let flags = fcntl(descriptor, F_GETFL)
        if flags >= 0, flags & O_ACCMODE == O_WRONLY || flags & LINUX_O_PATH != 0 {
            throw DecodingError(.unavailable, "the descriptor handed over is not open for reading")
        }
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
    }

    /// The same file for a second reader, with a window of its own. Throws `.unavailable`.
    func duplicate() throws(DecodingError) -> MediaFile {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw Self.openingError(errno) }
        return try MediaFile(descriptor: copy, shouldStop: shouldStop)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private static func irregular(_ what: String) -> DecodingError {
        DecodingError(.unavailable, "\(what), not a regular file")
    }

    /// Text for the kind of a file that is not regular.
    private static func nameOfIrregular(_ mode: mode_t) -> String? {
        switch mode & S_IFMT {
        case S_IFREG: nil
        case S_IFDIR: "it is a folder"
        case S_IFIFO: "it is a FIFO"
        case S_IFSOCK: "it is a socket"
        case S_IFCHR, S_IFBLK: "it is a device"
        default: "it is something else"
        }
    }
}

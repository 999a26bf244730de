import AudioCore
import CLinux
import Glibc
import LinuxSystem
import NowPlaying

/// Our end of a FIFO, for writing without waiting.
final class PipeEnd {
    /// Descriptor of the end, closed with this object.
    let descriptor: Int32
    /// Bytes written at once: whole frames, and at most the number that the kernel writes completely or not at all
    /// (PIPE_BUF).
    private let piece: Int
    private let device: dev_t
    private let inode: ino_t

    private static let page = 4096

    /// Opens the FIFO, and creates it if the path does not exist. It can be open without a reader.
    init(_ path: String, bytesPerFrame: Int) throws(OutputError) {
        func failure(_ reason: String) -> OutputError {
            OutputError(.noServer, "\(cleanText(path)) cannot be written: \(reason)")
        }
        if mkfifo(path, 0o660) != 0, errno != EEXIST { throw failure(String(cString: strerror(errno))) }
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure(String(cString: strerror(errno))) }
        guard status.st_mode & S_IFMT == S_IFIFO else {
            throw failure("it is not a FIFO; remove it, or name another path")
        }
        // Open for reading, too, for a moment: without a reader a FIFO cannot be opened only for writing.
        let reading = linux_open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0)
        guard reading >= 0 else { throw failure(String(cString: strerror(errno))) }
        defer { close(reading) }
        let opened = linux_open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0)
        guard opened >= 0 else { throw failure(String(cString: strerror(errno))) }
        guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
            close(opened)
            throw failure("it was replaced meanwhile")
        }
        device = status.st_dev
        inode = status.st_ino
        descriptor = opened
        piece = max(1, Self.page / bytesPerFrame) * bytesPerFrame
    }

    deinit { close(descriptor) }

    /// True if the path still names this FIFO.
    func isAt(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_dev == device && status.st_ino == inode
    }

    /// True if a program has opened the other end.
    var hasReader: Bool { readiness & Int16(POLLERR) == 0 }

    /// True if the FIFO has room for frames.
    var hasRoom: Bool { readiness & Int16(POLLOUT) != 0 }

    private var readiness: Int16 {
        var question = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&question, 1, 0) == 1 ? question.revents : 0
    }

    /// Bytes of frames that it can hold: each piece takes a page.
    var capacity: Int { max(1, Int(fcntl(descriptor, Self.getSize)) / Self.page) * min(piece, Self.page) }

    /// Enlarges it to this many bytes of frames, as far as the system allows.
    func enlarge(to bytes: Int) {
        guard capacity < bytes else { return }
        _ = fcntl(descriptor, Self.setSize, Int32(clamping: (bytes / min(piece, Self.page) + 1) * Self.page))
    }

    /// `F_SETPIPE_SZ` and `F_GETPIPE_SZ` of <linux/fcntl.h>.
    private static let setSize: Int32 = 1031
    private static let getSize: Int32 = 1032

    /// Writes whole frames until it is full. Returns the number of bytes.
    func write(_ frames: UnsafeRawBufferPointer) -> Int {
        var sent = 0
        while sent < frames.count {
            let count = min(piece, frames.count - sent)
            let written = Glibc.write(descriptor, frames.baseAddress! + sent, count)
            if written == count {
                sent += count
            } else if written >= 0 || errno != EINTR {
                // The FIFO is full, or has no reader, which the loop reports.
                break
            }
        }
        return sent
    }
}

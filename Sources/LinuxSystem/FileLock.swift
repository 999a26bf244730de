import CLinux
import Glibc

/// A file that at most one process holds (flock(2)), with the holder's pid in it. The file stays when the lock ends: to
/// remove it would let two processes hold two files of the same name.
package final class FileLock: Sendable {
    /// Why the lock can't be had.
    package enum Failure: Error, Equatable, Sendable {
        /// Another process holds it; nil: it has not written its pid yet.
        case held(pid: Int32?)
        case system(SystemError)
    }

    private let descriptor: Int32

    /// Takes the lock at `path`, which is made if need be with mode 0640. Held until the object is released or the process
    /// ends. On a disk that can't be written to, a file that is there is locked as it is, and without one the folder; where
    /// the pid can't be written, others do not see it, but the lock is valid. While the lock is held for a process that has
    /// died (see `DeadOwner`), this waits, a second at most.
    package init(_ path: String) throws(Failure) {
        var opened = Self.open(path)
        guard opened >= 0 else { throw .system(SystemError("open the lock file \(path)")) }
        var isLocked = Self.lock(opened)
        if !isLocked, errno == EBADF {
            // NFS locks only what may be written to.
            close(opened)
            opened = linux_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0)
            guard opened >= 0 else { throw .system(SystemError("open the lock file \(path)")) }
            isLocked = Self.lock(opened)
        }
        guard isLocked else {
            let (code, holder) = (errno, Self.holder(opened))
            close(opened)
            guard code == EWOULDBLOCK else { throw .system(SystemError("lock \(path)", code: code)) }
            throw .held(pid: holder)
        }
        Self.writePID(path)
        descriptor = opened
    }

    /// Locks an open file; false: errno says why not.
    private static func lock(_ file: Int32) -> Bool {
        var code: Int32 = 0
        DeadOwner.outlive {
            code = flock(file, LOCK_EX | LOCK_NB) == 0 ? 0 : errno
            return code == EWOULDBLOCK ? holder(file) : nil
        }
        errno = code
        return code == 0
    }

    /// The pid in an open lock file; nil: there is none.
    private static func holder(_ file: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let got = pread(file, &bytes, bytes.count, 0)
        let text = String(decoding: bytes.prefix(max(0, got)), as: UTF8.self)
        return text.split(separator: "\n").first.flatMap { Int32($0) }
    }

    /// A descriptor to lock by, which keeps nobody from making the disk read-only; negative: errno says why there is none.
    private static func open(_ path: String) -> Int32 {
        let file = linux_open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o640)
        guard file < 0, errno == EROFS || errno == ENOSPC || errno == EDQUOT, let slash = path.lastIndex(of: "/")
        else { return file }
        return linux_open(String(path[...slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    }

    private static func writePID(_ path: String) {
        // Emptied first, ext4 would write it to the disk when it is closed.
        let file = linux_open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0)
        guard file >= 0 else { return }
        defer { close(file) }
        let text = Array("\(getpid())\n".utf8)
        var status = stat()
        if pwrite(file, text, text.count, 0) != text.count {
            // Half a pid would name somebody else.
            _ = ftruncate(file, 0)
        } else if fstat(file, &status) != 0 || status.st_size != text.count {
            _ = ftruncate(file, text.count)
        }
    }

    deinit { close(descriptor) }
}

import CLinux
import Glibc

/// A file that at most one process locks (flock(2)), with the pid of the holder in it. The file stays after the lock
/// ends: if it were removed, two processes could lock two files of the same name.
package final class FileLock: Sendable {
    /// Reason why the lock is not available.
    package enum Failure: Error, Equatable, Sendable {
        /// Another process holds it; nil: it has not written its pid yet.
        case held(pid: Int32?)
        case system(SystemError)
    }

    private let descriptor: Int32

    /// Takes the lock at `path` and creates the file if necessary, with mode 0640. The lock lasts until the object is
    /// released or the process ends. On a read-only or full disk, an existing file is locked as it is; without a file,
    /// its folder is locked. If the pid cannot be written, the lock is valid without it. If the holder is a dead
    /// process (see `DeadOwner`), this waits, a second at most.
    package init(_ path: String) throws(Failure) {
        var opened = Self.open(path)
        guard opened >= 0 else { throw .system(SystemError("open the lock file \(path)")) }
        var isLocked = Self.lock(opened)
        if !isLocked, errno == EBADF {
            // NFS locks only files that are open for writing.
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

    /// Locks an open file; false: errno has the reason.
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

    /// A descriptor for the lock. It is read-only, so that the disk can be remounted read-only. Negative: errno has the
    /// reason.
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

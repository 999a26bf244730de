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
    /// ends.
    package init(_ path: String) throws(Failure) {
        let opened = linux_open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o640)
        guard opened >= 0 else { throw .system(SystemError("open the lock file \(path)")) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            var bytes = [UInt8](repeating: 0, count: 16)
            let got = pread(opened, &bytes, bytes.count, 0)
            close(opened)
            guard code == EWOULDBLOCK else { throw .system(SystemError("lock \(path)", code: code)) }
            let text = String(decoding: bytes.prefix(max(0, got)), as: UTF8.self)
            throw .held(pid: text.split(separator: "\n").first.flatMap { Int32($0) })
        }
        let text = Array("\(getpid())\n".utf8)
        guard ftruncate(opened, 0) == 0, pwrite(opened, text, text.count, 0) == text.count else {
            let error = SystemError("write the lock file \(path)")
            close(opened)
            throw .system(error)
        }
        descriptor = opened
    }

    deinit { close(descriptor) }
}

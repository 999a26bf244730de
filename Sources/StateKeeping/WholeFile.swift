import CLinux
import Glibc
import LinuxSystem

/// Reads whole files. On a worker thread; may block as long as the disk does.
enum WholeFile {
    /// Bytes of a regular file of at most `limit` bytes.
    static func read(_ path: String, upTo limit: Int) -> Result<[UInt8], SystemError> {
        let file = linux_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard file >= 0 else { return .failure(SystemError("open \(path)")) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return .failure(SystemError("look at \(path)")) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else {
            return .failure(SystemError("read \(path)", code: EINVAL))
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                pread(file, $0.baseAddress! + done, $0.count - done, off_t(done))
            }
            if count < 0, errno == EINTR { continue }
            if count < 0 { return .failure(SystemError("read \(path)")) }
            if count == 0 { break }
            done += count
        }
        return .success(Array(bytes.prefix(done)))
    }
}

import CLinux
import Glibc

/// Files that are written under a name of their own before they replace others.
package enum FreshFile {
    /// Makes an empty file of mode 0600, for reading and writing, in place of one that an interrupted write left behind. It opens no file
    /// that exists: neither a link nor a pipe. The descriptor is the caller's. Below 0: `errno` has the reason.
    package static func make(_ path: String) -> Int32 {
        guard unlink(path) == 0 || errno == ENOENT else { return -1 }
        return linux_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    }
}

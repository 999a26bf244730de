import CLinux
import Glibc

/// A path below a folder that symbolic links cannot leave (openat2(2), RESOLVE_BENEATH). Every call blocks for as long
/// as the disk does.
package final class ConfinedPath: Sendable {
    /// Absolute, without a slash at its end (but for `/` itself).
    package let root: FilePath
    /// Relative to the root, without empty parts; empty: the root itself.
    package let relative: FilePath

    /// A path, by its parts.
    package init(root: FilePath, relative: FilePath) {
        self.root = root
        self.relative = relative
    }

    /// The whole path.
    package var path: FilePath { root.appending(relative) }

    /// Opens a descriptor that only refers to the file (O_PATH); it is the caller's. Negative: the number of the error;
    /// EXDEV: the path leaves the folder.
    package func locate() -> Int32 {
        let folder = root.withCString { linux_open($0, LINUX_O_PATH | O_DIRECTORY | O_CLOEXEC, 0) }
        guard folder >= 0 else { return -errno }
        defer { close(folder) }
        let opened = (relative.isEmpty ? "." : relative).withCString {
            linux_openat2(
                folder, $0, UInt64(LINUX_O_PATH | O_CLOEXEC),
                UInt64(LINUX_RESOLVE_BENEATH | LINUX_RESOLVE_NO_MAGICLINKS))
        }
        return opened >= 0 ? opened : -errno
    }

    /// Opens the regular file at this path for reading; the descriptor is the caller's. It never opens devices and
    /// FIFOs. Negative: the number of the error; EINVAL: not a regular file.
    package func openFile() -> Int32 {
        let found = locate()
        guard found >= 0 else { return found }
        defer { close(found) }
        var status = stat()
        guard fstat(found, &status) == 0 else { return -errno }
        guard status.st_mode & S_IFMT == S_IFREG else { return -EINVAL }
        let opened = linux_open("/proc/self/fd/\(found)", O_RDONLY | O_CLOEXEC | O_NOCTTY, 0)
        return opened >= 0 ? opened : -errno
    }
}

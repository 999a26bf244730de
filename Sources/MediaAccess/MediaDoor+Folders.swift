import CLinux
import Glibc
import LinuxSystem

/// Folders that a peer may read.
extension MediaDoor {
    /// Opens a folder for readdir(3); nil: it does not open. The caller closes the descriptor.
    func openFolder(_ path: FilePath) -> Int32? {
        guard let roots else {
            let opened = path.withCString { linux_open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0) }
            return opened >= 0 ? opened : nil
        }
        guard let confined = roots.confinedPath(of: path) else { return nil }
        let found = confined.locate()
        guard found >= 0 else { return nil }
        defer { close(found) }
        // Reads the folder that was checked, even if its name now leads to another one.
        let opened = linux_openat(found, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        return opened >= 0 ? opened : nil
    }

    /// The names in a folder, at most `limit`, in no order; none if it does not open.
    func names(in path: FilePath, limit: Int) -> [FilePath] {
        guard let descriptor = openFolder(path) else { return [] }
        guard let folder = fdopendir(descriptor) else {
            close(descriptor)
            return []
        }
        defer { closedir(folder) }
        var names: [FilePath] = []
        while names.count < limit, !abandoned.isSet, let entry = readdir(folder) {
            if let name = Self.name(entry) { names.append(name) }
        }
        return names
    }

    /// The name in an entry of a folder.
    static func name(_ entry: UnsafeMutablePointer<dirent>) -> FilePath? {
        withUnsafeBytes(of: &entry.pointee.d_name) { bytes in FilePath(bytes.prefix { $0 != 0 }) }
    }
}

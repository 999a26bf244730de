import CLinux
import Glibc

/// Memory of deleted state directories. A killed daemon leaves it, and no other would ever remove it.
extension StateMemory {
    static let folder = "/dev/shm"
    /// Prefix of our names; device and inode of the state directory follow.
    static var namePrefix: String { "nowplayingd-\(geteuid())-" }
    private static let pathOffset = 3072
    private static let pathBytes = 1024

    /// The name of the memory for this state directory.
    static func name(of status: stat) -> String {
        namePrefix + String(status.st_dev, radix: 16) + "-" + String(status.st_ino, radix: 16)
    }

    /// Writes the path of the state directory into the first page, so that other daemons can check that it still
    /// exists.
    static func note(_ directory: String, in page: UnsafeMutableRawPointer) {
        guard let path = realpath(directory, nil) else { return }
        defer { free(path) }
        let length = strlen(path)
        guard length < pathBytes else { return }
        (page + pathOffset).copyMemory(from: path, byteCount: length + 1)
    }

    /// Removes the memory of this user's state directories that no longer exist, unless a daemon has it open. On a
    /// worker thread.
    static func removeOrphans() {
        guard let stream = opendir(folder) else { return }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix(namePrefix) { removeIfOrphan(name) }
        }
    }

    private static func removeIfOrphan(_ name: String) {
        let path = folder + "/" + name
        let file = linux_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard file >= 0 else { return }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: pathBytes)
        guard flock(file, LOCK_EX | LOCK_NB) == 0,
            pread(file, &bytes, pathBytes, off_t(pathOffset)) == pathBytes, bytes[0] == UInt8(ascii: "/")
        else { return }
        let directory = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        var status = stat()
        let isThere = stat(directory, &status) == 0
        // A folder that is unreadable now may still exist.
        guard isThere ? self.name(of: status) != name : errno == ENOENT else { return }
        unlink(path)
    }
}

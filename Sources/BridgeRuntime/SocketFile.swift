import Glibc
import LinuxSystem

/// A local socket that listens, and its file.
struct SocketFile: Sendable {
    /// The listening descriptor. The caller closes it.
    let descriptor: Int32
    private let path: String
    private let inode: UInt64

    /// Listens at a path. An existing file stays, unless it is a socket of this user at which no process listens.
    init(_ path: String) throws(SystemError) {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        mkdir(folder, 0o755)
        var status = stat()
        if lstat(path, &status) == 0 {
            let taken = SystemError("listen at \(path)", code: EADDRINUSE)
            guard status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() else { throw taken }
            guard Self.isDead(path) else { throw taken }
            unlink(path)
        }
        descriptor = try UnixSocket.listen(path)
        // All users may connect: the peer's user decides on the rights.
        chmod(path, 0o666)
        inode = lstat(path, &status) == 0 ? UInt64(status.st_ino) : 0
        self.path = path
    }

    /// True if no process listens at the socket any more.
    private static func isDead(_ path: String) -> Bool {
        do throws(SystemError) {
            close(try UnixSocket.connect(path))
            return false
        } catch {
            return error.code == ECONNREFUSED
        }
    }

    /// Removes the file, unless another one has taken its place.
    func remove() {
        var status = stat()
        if lstat(path, &status) == 0, UInt64(status.st_ino) == inode { unlink(path) }
    }
}

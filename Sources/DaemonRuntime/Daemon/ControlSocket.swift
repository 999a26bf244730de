import ControlProtocol
import Glibc
import LinuxSystem

/// The listening socket and the locks that keep a second daemon out.
package struct ControlSocket {
    /// The listening descriptor; whoever takes it closes it.
    package let descriptor: Int32
    /// Path of the socket; nil: it came from the service manager, which removes it.
    private let path: String?
    /// True if the service manager owns it, and starts the daemon for the first client.
    package var isHandedOver: Bool { path == nil }
    private let locks: [FileLock]
    /// The listening descriptor of the background socket, and its path; nil: there is none.
    private let backgroundSocket: (descriptor: Int32, path: String)?
    /// The listening descriptor for clients that do not keep the daemon running; whoever takes it closes it. Nil: there is none.
    package var background: Int32? { backgroundSocket?.descriptor }

    /// Takes the locks and the socket of the service manager, else makes one at `paths.socket`. A socket that is in the
    /// way is removed if it is ours and nobody answers. Call it before there are other threads.
    package init(_ paths: DaemonPaths, groups: [UInt32]) throws(DaemonFailure) {
        _ = try DaemonPaths.makeFolder(paths.stateDirectory)
        var locks = [try Self.lock(paths.stateDirectory + "/lock", "the state directory \(paths.stateDirectory)")]
        if let handed = ServiceManager.listeningSockets().first {
            descriptor = handed
            path = nil
            self.locks = locks
            let path = ServiceManager.path(ofSocket: handed)
            if let path { Self.admit(groups, path, isFolderOurs: path.hasSuffix("/nowplayingd/control.sock")) }
            backgroundSocket = path.flatMap { Self.background(beside: $0) }
            return
        }
        let socket = paths.socket
        guard socket.utf8.count <= UnixSocket.maximumPathBytes else {
            throw DaemonFailure(
                "the path of the control socket is too long (\(socket.utf8.count) bytes; at most "
                    + "\(UnixSocket.maximumPathBytes)): \(socket); give a shorter one with --socket")
        }
        let folder = String(socket[..<(socket.lastIndex(of: "/") ?? socket.startIndex)])
        let isNew = try DaemonPaths.makeFolder(folder, mode: 0o750)
        locks.append(try Self.lock(socket + ".lock", "the control socket \(socket)"))
        try Self.removeStale(socket)
        do throws(SystemError) { descriptor = try UnixSocket.listen(socket) } catch {
            throw DaemonFailure("cannot create the control socket: \(error.message)")
        }
        Self.admit(groups, socket, isFolderOurs: isNew || folder.hasSuffix("/nowplayingd"))
        path = socket
        self.locks = locks
        backgroundSocket = Self.background(beside: socket)
    }

    /// The background socket beside a control socket whose lock is held. It appears under its name when it takes connections.
    private static func background(beside socket: String) -> (descriptor: Int32, path: String)? {
        let path = BackgroundSocket.path(beside: socket)
        let new = socket + ".new"
        do throws(SystemError) {
            unlink(new)
            let descriptor = try UnixSocket.listen(new, isPrivate: true)
            guard rename(new, path) == 0 else {
                let error = SystemError("rename \(new)")
                close(descriptor)
                unlink(new)
                throw error
            }
            return (descriptor, path)
        } catch {
            Log.warning("no background socket, which the library follows the daemon by: \(error.message)")
            return nil
        }
    }

    /// Lets these groups reach the socket, and its folder where that is for the socket alone.
    private static func admit(_ groups: [UInt32], _ socket: String, isFolderOurs: Bool) {
        do throws(SystemError) {
            if isFolderOurs {
                let folder = String(socket[..<(socket.lastIndex(of: "/") ?? socket.startIndex)])
                try GroupAccess.allow(groups, folder, ownerMay: 7, groupsMay: 5)
            }
            try GroupAccess.allow(groups, socket, ownerMay: 6, groupsMay: 6)
        } catch {
            Log.warning("cannot give the control socket to the configured groups: \(error.message)")
        }
    }

    private static func lock(_ path: String, _ what: String) throws(DaemonFailure) -> FileLock {
        do throws(FileLock.Failure) { return try FileLock(path) } catch {
            switch error {
            case .held(let pid):
                let who = pid.map { " (pid \($0))" } ?? ""
                throw DaemonFailure("another nowplayingd\(who) is already running and uses \(what)")
            case .system(let error): throw DaemonFailure(error.message)
            }
        }
    }

    private static func removeStale(_ path: String) throws(DaemonFailure) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw DaemonFailure(SystemError("look at \(path)").message) }
            return
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw DaemonFailure(
                "cannot use \(path): it is not a socket; remove it, or choose another path with --socket")
        }
        guard status.st_uid == geteuid() else {
            throw DaemonFailure(
                "cannot use \(path): it belongs to user \(status.st_uid); choose another path with --socket")
        }
        guard let error = connectionError(path) else {
            throw DaemonFailure("cannot use \(path): another program answers there; choose another path with --socket")
        }
        guard error.code == ECONNREFUSED else {
            throw DaemonFailure("cannot use \(path): \(error.message)")
        }
        guard unlink(path) == 0 else { throw DaemonFailure(SystemError("remove the old socket \(path)").message) }
    }

    /// Why nobody answers there; nil: somebody does.
    private static func connectionError(_ path: String) -> SystemError? {
        do throws(SystemError) {
            close(try UnixSocket.connect(path))
            return nil
        } catch {
            return error
        }
    }

    /// Removes the socket, as long as the locks are held.
    package func remove() {
        if let path { unlink(path) }
        if let backgroundSocket { unlink(backgroundSocket.path) }
    }
}

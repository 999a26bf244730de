import Glibc
import LinuxSystem

/// Place of a program's socket and of its state, with the words for both in messages.
package struct SocketPlace: Sendable {
    /// Name of the program.
    let program: String
    /// Name of the socket: `control socket`.
    let name: String
    /// Path of the socket.
    let socket: String
    let stateDirectory: String
    /// The remedy for a path that can't be used: `give a shorter one with --socket`.
    let remedy: String

    /// A place, by its parts.
    package init(program: String, name: String, socket: String, stateDirectory: String, remedy: String) {
        self.program = program
        self.name = name
        self.socket = socket
        self.stateDirectory = stateDirectory
        self.remedy = remedy
    }
}

/// A socket that can't be had, in words for people.
package struct SocketFailure: Error, Equatable, Sendable {
    package let message: String

    /// A failure with these words.
    init(_ message: String) { self.message = message }
}

/// The listening socket and the locks that keep a second instance of the program out.
package struct ControlSocket {
    /// The listening descriptor; whoever takes it closes it.
    package let descriptor: Int32
    /// Path of the socket; nil: it has none.
    package let path: String?
    /// True if the service manager owns it, removes it, and starts the program for the first client.
    package let isHandedOver: Bool
    private let locks: [FileLock]

    /// Takes the locks and the socket of the service manager, else makes one at `place.socket`. A socket that is in the
    /// way is removed if it is ours and nobody answers. Call it before there are other threads.
    package init(_ place: SocketPlace, groups: [UInt32]) throws(SocketFailure) {
        let socket = place.socket
        _ = try Self.makeFolder(place.stateDirectory)
        var locks = [
            try Self.lock(place.stateDirectory + "/lock", "the state directory \(place.stateDirectory)", place)
        ]
        if let handed = ServiceManager.listeningSockets().first {
            descriptor = handed
            isHandedOver = true
            self.locks = locks
            path = ServiceManager.path(ofSocket: handed)
            if let path { Self.admit(groups, path, isFolderOurs: Self.isOwnFolder(Self.folder(of: path))) }
            return
        }
        guard socket.utf8.count <= UnixSocket.maximumPathBytes else {
            throw SocketFailure(
                "the path of the \(place.name) is too long (\(socket.utf8.count) bytes; at most "
                    + "\(UnixSocket.maximumPathBytes)): \(socket); \(place.remedy)")
        }
        let folder = Self.folder(of: socket)
        let isNew = try Self.makeFolder(folder, mode: 0o750)
        locks.append(try Self.lock(socket + ".lock", "the \(place.name) \(socket)", place))
        try Self.removeStale(place)
        do throws(SystemError) { descriptor = try UnixSocket.listen(socket) } catch {
            throw SocketFailure("cannot create the \(place.name): \(error.message)")
        }
        Self.admit(groups, socket, isFolderOurs: isNew || Self.isOwnFolder(folder))
        path = socket
        isHandedOver = false
        self.locks = locks
    }

    private static func folder(of socket: String) -> String {
        String(socket[..<(socket.lastIndex(of: "/") ?? socket.startIndex)])
    }

    /// True if a folder is for sockets of ours alone by its name.
    private static func isOwnFolder(_ folder: String) -> Bool { folder.hasSuffix("/nowplayingd") }

    /// Lets these groups reach the socket, and its folder where that is for sockets of ours alone.
    private static func admit(_ groups: [UInt32], _ socket: String, isFolderOurs: Bool) {
        do throws(SystemError) {
            if isFolderOurs { try GroupAccess.allow(groups, folder(of: socket), ownerMay: 7, groupsMay: 5) }
            // A socket of root was made by the service manager, with the mode of its unit.
            guard owner(of: socket) == geteuid() else { return }
            try GroupAccess.allow(groups, socket, ownerMay: 6, groupsMay: 6)
        } catch {
            Log.warning("cannot give the socket \(socket) to the configured groups: \(error.message)")
        }
    }

    private static func owner(of path: String) -> uid_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_uid : nil
    }

    private static func lock(
        _ path: String, _ resource: String, _ place: SocketPlace
    ) throws(SocketFailure) -> FileLock {
        do throws(FileLock.Failure) { return try FileLock(path) } catch {
            switch error {
            case .held(let pid):
                let who = pid.map { " (pid \($0))" } ?? ""
                throw SocketFailure("another \(place.program)\(who) is already running and uses \(resource)")
            case .system(let error): throw SocketFailure(error.message)
            }
        }
    }

    private static func removeStale(_ place: SocketPlace) throws(SocketFailure) {
        let path = place.socket
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw SocketFailure(SystemError("look at \(path)").message) }
            return
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SocketFailure("cannot use \(path): it is not a socket; remove it, or \(place.remedy)")
        }
        // The service manager may have left one of root's.
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw SocketFailure("cannot use \(path): it belongs to user \(status.st_uid); \(place.remedy)")
        }
        guard let error = connectionError(path) else {
            throw SocketFailure("cannot use \(path): another program answers there; \(place.remedy)")
        }
        guard error.code == ECONNREFUSED else {
            throw SocketFailure("cannot use \(path): \(error.message)")
        }
        guard unlink(path) == 0 else { throw SocketFailure(SystemError("remove the old socket \(path)").message) }
    }

    /// Why nobody answers there; nil: somebody does. An answer for a process that has died (see `DeadOwner`) is none.
    private static func connectionError(_ path: String) -> SystemError? {
        var found: SystemError?
        DeadOwner.outlive {
            do throws(SystemError) {
                let connection = try UnixSocket.connect(path)
                defer { close(connection) }
                found = nil
                return UnixSocket.peer(connection)?.pid
            } catch {
                found = error
                return nil
            }
        }
        return found
    }

    /// Makes the folder and those above it that are missing, with mode 0700 (or `mode` for the last one). True: it was
    /// made, false: it was there.
    private static func makeFolder(_ path: String, mode: mode_t = 0o700) throws(SocketFailure) -> Bool {
        if mkdir(path, mode) == 0 {
            // The umask may have taken something away.
            chmod(path, mode)
            return true
        }
        switch errno {
        case EEXIST: return false
        case ENOENT:
            guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { fallthrough }
            _ = try makeFolder(String(path[..<slash]))
            guard mkdir(path, mode) == 0 else { fallthrough }
            chmod(path, mode)
            return true
        default: throw SocketFailure(SystemError("make the folder \(path)").message)
        }
    }

    /// Removes the socket, as long as the locks are held.
    package func remove() {
        if let path, !isHandedOver { unlink(path) }
    }
}

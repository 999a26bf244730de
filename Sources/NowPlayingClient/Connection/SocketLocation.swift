import Glibc

/// Possible paths of a daemon's socket.
package enum SocketLocation {
    /// The paths that a client tries, in order: only `option` (`--socket`) or `$NOWPLAYING_SOCKET` if given, else those
    /// of the user's daemon and of the system's. Specification: protocol, section 1.
    package static func candidates(
        option: String?, environment: (String) -> String? = variable, user: UInt32 = getuid()
    ) -> [String] {
        if let option { return [option] }
        if let path = environment("NOWPLAYING_SOCKET"), !path.isEmpty { return [path] }
        var result: [String] = []
        if let folder = environment("XDG_RUNTIME_DIR"), folder.hasPrefix("/") { result.append(folder) }
        let usual = "/run/user/\(user)"
        if result.first != usual { result.append(usual) }
        result.append("/run")
        return result.map { $0 + "/nowplayingd/control.sock" }
    }

    /// The paths that a client tries for a bridge's socket, in order: the user's and the system's. `socket`: its file
    /// name.
    package static func bridge(
        _ program: String, socket: String = "control.sock", environment: (String) -> String? = variable,
        user: UInt32 = getuid()
    ) -> [String] {
        var result: [String] = []
        if let folder = environment("XDG_RUNTIME_DIR"), folder.hasPrefix("/") { result.append(folder) }
        let usual = "/run/user/\(user)"
        if result.first != usual { result.append(usual) }
        result.append("/run")
        return result.map { $0 + "/\(program)/\(socket)" }
    }

    /// The paths that a client tries for the library's socket: only `$NOWPLAYING_LIBRARY_SOCKET` if it is set. Else
    /// those next to `daemons`, the daemon's sockets, up to the first that `exists`, because another daemon's library
    /// has other media.
    package static func library(
        beside daemons: [String], environment: (String) -> String? = variable, exists: (String) -> Bool = isThere
    ) -> [String] {
        if let path = environment("NOWPLAYING_LIBRARY_SOCKET"), !path.isEmpty { return [path] }
        var result: [String] = []
        for path in daemons {
            let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
            result.append(folder + "library.sock")
            if exists(path) { break }
        }
        return result
    }

    /// True if a file exists at this path.
    package static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// A variable of this process's environment.
    package static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// A failed attempt to connect to a socket, with its reason.
package struct ConnectionAttempt: Equatable, Sendable {
    /// The path of the socket.
    package var path: String
    /// `errno` of the attempt.
    package var code: Int32

    /// An attempt, by its parts.
    package init(path: String, code: Int32) {
        self.path = path
        self.code = code
    }

    /// The reason as text, with a remedy if one is known.
    package var explanation: String { explanation(of: "daemon") }

    /// The same for another program than the daemon, by its name in sentences.
    package func explanation(of program: String) -> String {
        switch code {
        case ENOENT, ENOTDIR: "no such socket: no \(program) was started here"
        case ECONNREFUSED: "connection refused: the \(program) has ended; start it again"
        case EACCES, EPERM: "permission denied" + ConnectionAttempt.membership(path)
        case EAGAIN, ETIMEDOUT: "the \(program) is too busy to accept connections; try again"
        case ENAMETOOLONG: "the path is too long: a socket's path has at most 107 bytes"
        case EPROTOTYPE, ENOTSOCK: "not a \(program)'s socket"
        default: SystemText.error(code)
        }
    }

    /// The group to join, if that would help.
    private static func membership(_ path: String) -> String {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        var status = stat()
        guard stat(folder, &status) == 0, status.st_gid != 0, let entry = getgrgid(status.st_gid) else { return "" }
        let group = TerminalText.safe(String(cString: entry.pointee.gr_name))
        return "; join the group \(group): sudo usermod -aG \(group) USER, then log in again"
    }
}

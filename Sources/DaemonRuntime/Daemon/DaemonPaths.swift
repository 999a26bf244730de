package import DaemonConfiguration
import Glibc
import LinuxSystem

/// Default paths of the daemon's files.
package struct DaemonPaths: Equatable, Sendable {
    package let socket: String
    package let stateDirectory: String
    /// Nil: there is no default path.
    package let cacheDirectory: String?

    /// Paths for this configuration. `environment` returns variables that are set and not empty. Throws words when
    /// there is no default path.
    package init(
        _ configuration: Configuration, uid: UInt32, environment: (String) -> String?
    ) throws(DaemonFailure) {
        let runtime = environment("XDG_RUNTIME_DIR")
        // Without a session there is one daemon of the system.
        let isSystem = runtime == nil && uid == 0
        cacheDirectory = Self.cache(configuration, isSystem: isSystem, environment)
        if let socket = configuration.socket {
            self.socket = Self.absolute(socket)
        } else if let folder = environment("RUNTIME_DIRECTORY")?.split(separator: ":").first {
            socket = folder + "/control.sock"
        } else if let runtime {
            socket = runtime + "/nowplayingd/control.sock"
        } else if isSystem {
            socket = "/run/nowplayingd/control.sock"
        } else if access("/run/user/\(uid)", F_OK) == 0 {
            socket = "/run/user/\(uid)/nowplayingd/control.sock"
        } else {
            throw DaemonFailure(
                "no default path for the control socket: XDG_RUNTIME_DIR is not set; use --socket")
        }
        if let folder = configuration.stateDirectory {
            stateDirectory = Self.absolute(folder)
        } else if let folder = environment("STATE_DIRECTORY")?.split(separator: ":").first {
            stateDirectory = String(folder)
        } else if let folder = environment("XDG_STATE_HOME") {
            stateDirectory = folder + "/nowplayingd"
        } else if isSystem {
            stateDirectory = "/var/lib/nowplayingd"
        } else if let home = environment("HOME") {
            stateDirectory = home + "/.local/state/nowplayingd"
        } else {
            throw DaemonFailure(
                "no default directory for the daemon's state: HOME is not set; use --state-directory")
        }
    }

    private static func cache(
        _ configuration: Configuration, isSystem: Bool, _ environment: (String) -> String?
    ) -> String? {
        if let folder = configuration.cacheDirectory { return absolute(folder) }
        if let folder = environment("CACHE_DIRECTORY")?.split(separator: ":").first { return String(folder) }
        if let folder = environment("XDG_CACHE_HOME") { return folder + "/nowplayingd" }
        if isSystem { return "/var/cache/nowplayingd" }
        return environment("HOME").map { $0 + "/.cache/nowplayingd" }
    }

    private static func absolute(_ path: String) -> String {
        guard path.utf8.first != UInt8(ascii: "/"), let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return String(cString: here) + "/" + path
    }

    /// Makes the folder and those above it that are missing, with mode 0700 (or `mode` for the last one). True: it was
    /// made, false: it was there.
    static func makeFolder(_ path: String, mode: mode_t = 0o700) throws(DaemonFailure) -> Bool {
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
        default: throw DaemonFailure(SystemError("make the folder \(path)").message)
        }
    }
}

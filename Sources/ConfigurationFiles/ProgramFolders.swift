import Glibc

/// The default folders of the daemon. Its companions use them too.
package enum ProgramFolders {
    /// True for programs of the system: they run as root, without a session.
    package static func isSystem(uid: UInt32, environment: (String) -> String?) -> Bool {
        environment("XDG_RUNTIME_DIR") == nil && uid == 0
    }

    /// The folder of sockets; nil: there is no default. `environment` returns variables that are set and not empty.
    package static func runtime(uid: UInt32, environment: (String) -> String?) -> String? {
        if let folder = environment("RUNTIME_DIRECTORY")?.split(separator: ":").first { return String(folder) }
        if let runtime = environment("XDG_RUNTIME_DIR") { return runtime + "/nowplayingd" }
        if isSystem(uid: uid, environment: environment) { return "/run/nowplayingd" }
        return access("/run/user/\(uid)", F_OK) == 0 ? "/run/user/\(uid)/nowplayingd" : nil
    }

    /// The folder of the daemon's state; nil: there is no default. `environment` returns variables that are set and not
    /// empty.
    package static func state(uid: UInt32, environment: (String) -> String?) -> String? {
        if let folder = environment("STATE_DIRECTORY")?.split(separator: ":").first { return String(folder) }
        if let folder = environment("XDG_STATE_HOME") { return folder + "/nowplayingd" }
        if isSystem(uid: uid, environment: environment) { return "/var/lib/nowplayingd" }
        return environment("HOME").map { $0 + "/.local/state/nowplayingd" }
    }

    /// A path that does not depend on the working directory.
    package static func absolute(_ path: String) -> String {
        guard path.utf8.first != UInt8(ascii: "/"), let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return String(cString: here) + "/" + path
    }
}

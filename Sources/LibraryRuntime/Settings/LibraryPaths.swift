package import ConfigurationFiles
import LinuxSystem

/// Paths of the library's files.
package struct LibraryPaths: Equatable, Sendable {
    /// Path of the daemon's socket.
    package let daemonSocket: String
    /// Path of the library's own socket.
    package let socket: String
    package private(set) var stateDirectory: String
    /// Directory of the daemon's state; nil: there is no default.
    package let daemonStateDirectory: String?

    /// The folder of pictures; nil: there is no default.
    package static func cacheFolder(uid: UInt32, environment: (String) -> String?) -> String? {
        if let folder = environment("CACHE_DIRECTORY")?.split(separator: ":").first { return folder + "/artwork" }
        if let folder = environment("XDG_CACHE_HOME") { return folder + "/nowplaying-library/artwork" }
        if uid == 0, environment("XDG_RUNTIME_DIR") == nil { return "/var/cache/nowplaying-library/artwork" }
        return environment("HOME").map { $0 + "/.cache/nowplaying-library/artwork" }
    }

    /// The database of tracks.
    package var database: String { stateDirectory + "/tracks.db" }
    /// The folder of saved lists.
    package var lists: String { stateDirectory + "/lists" }
    /// The names of the folders of the library.
    package var rootNames: String { stateDirectory + "/folders.json" }

    /// Paths by the settings, `--socket` (nil: not given) and the environment, which returns variables that are set and
    /// not empty. Throws a failure in words if there is no default.
    package init(
        _ settings: LibrarySettings, daemonSocket: String?, uid: UInt32, environment: (String) -> String?
    ) throws(ConfigurationError) {
        let runtime = ProgramFolders.runtime(uid: uid, environment: environment)
        guard let daemon = daemonSocket ?? settings.daemonSocket ?? runtime.map({ $0 + "/control.sock" }) else {
            throw ConfigurationError(messages: [
                "no default path for the daemon's socket: XDG_RUNTIME_DIR is not set; use --socket"
            ])
        }
        let path = ProgramFolders.absolute(daemon)
        self.daemonSocket = path
        let folder = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
        socket = settings.socket ?? folder + "/library.sock"
        let state = settings.daemonStateDirectory ?? ProgramFolders.state(uid: uid, environment: environment)
        daemonStateDirectory = state
        guard let state = settings.stateDirectory ?? state.map({ $0 + "/library" }) else {
            throw ConfigurationError(messages: [
                "no default directory for the library's state: HOME is not set; set state-directory in [library]"
            ])
        }
        stateDirectory = state
    }

    /// These paths, with a folder in memory in place of a state directory on a read-only disk (see `StateFolder`).
    func leavingReadOnlyDisk(environment: (String) -> String?) -> Self {
        var paths = self
        paths.stateDirectory = StateFolder.usable(
            stateDirectory, of: "nowplaying-library", keeps: "the index and the lists", environment: environment)
        return paths
    }
}

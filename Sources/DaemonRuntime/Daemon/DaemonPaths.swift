import ConfigurationFiles
package import DaemonConfiguration
import Glibc
import LinuxSystem

/// Default paths of the daemon's files.
package struct DaemonPaths: Equatable, Sendable {
    /// The control socket: that of the configuration, or the one that the service manager handed over.
    package let socket: String
    package private(set) var stateDirectory: String
    /// Nil: there is no default path.
    package let cacheDirectory: String?

    /// Paths for this configuration. `handedSocket`: path of the socket of the service manager, nil: there is none.
    /// `environment` returns variables that are set and not empty. Throws a failure in words if there is no default path.
    package init(
        _ configuration: Configuration, uid: UInt32, handedSocket: String? = nil, environment: (String) -> String?
    ) throws(DaemonFailure) {
        let isSystem = ProgramFolders.isSystem(uid: uid, environment: environment)
        cacheDirectory = Self.cache(configuration, isSystem: isSystem, environment)
        if let socket = configuration.socket {
            self.socket = ProgramFolders.absolute(socket)
        } else if let handedSocket {
            socket = handedSocket
        } else if let folder = ProgramFolders.runtime(uid: uid, environment: environment) {
            socket = folder + "/control.sock"
        } else {
            throw DaemonFailure(
                "no default path for the control socket: XDG_RUNTIME_DIR is not set; use --socket",
                isOfConfiguration: true)
        }
        if let folder = configuration.stateDirectory {
            stateDirectory = ProgramFolders.absolute(folder)
        } else if let folder = ProgramFolders.state(uid: uid, environment: environment) {
            stateDirectory = folder
        } else {
            throw DaemonFailure(
                "no default directory for the daemon's state: HOME is not set; use --state-directory",
                isOfConfiguration: true)
        }
    }

    /// These paths, with a folder in memory in place of a state directory that can't be made on a read-only disk (see
    /// `StateFolder`). One that is there stays: the daemon saves when the disk takes writes again.
    func leavingReadOnlyDisk(environment: (String) -> String?) -> Self {
        if access(stateDirectory, F_OK) == 0 { return self }
        var paths = self
        paths.stateDirectory = StateFolder.usable(
            stateDirectory, of: "nowplayingd", keeps: "the queue and the position", environment: environment)
        return paths
    }

    private static func cache(
        _ configuration: Configuration, isSystem: Bool, _ environment: (String) -> String?
    ) -> String? {
        if let folder = configuration.cacheDirectory { return ProgramFolders.absolute(folder) }
        if let folder = environment("CACHE_DIRECTORY")?.split(separator: ":").first { return String(folder) }
        if let folder = environment("XDG_CACHE_HOME") { return folder + "/nowplayingd" }
        if isSystem { return "/var/cache/nowplayingd" }
        return environment("HOME").map { $0 + "/.cache/nowplayingd" }
    }
}

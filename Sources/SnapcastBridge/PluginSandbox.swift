import BridgeRuntime
import CLinux
import ConfigurationFiles
import Glibc

/// The sandbox of this program (landlock(7), seccomp(2)). A service manager starts the other bridges in a sandbox; a
/// Snapcast server starts this bridge with all rights of its user.
enum PluginSandbox {
    /// Folders of the configuration files. `arguments`: the command line without the options of the server.
    static func configuration(_ arguments: [String]) -> [String] {
        let given = (try? BridgeOptions(arguments))?.configurationFile
        return (given.map { [$0] } ?? INIFile.usualPaths).map { path in
            guard let slash = path.lastIndex(of: "/") else { return "." }
            return slash == path.startIndex ? path : String(path[..<slash])
        }
    }

    /// Confines the calling thread, and the threads that it starts, for good. They can read files of these folders, connect to
    /// sockets and use open descriptors. They cannot write files, run programs, take connections or signal processes. False:
    /// the kernel lacks a part of this.
    static func enter(configuration folders: [String]) -> Bool {
        let paths = folders.map { UnsafePointer(strdup($0)) }
        defer { for path in paths { free(UnsafeMutablePointer(mutating: path)) } }
        return linux_confine_client(paths, Int32(paths.count)) == 0
    }
}

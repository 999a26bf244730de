import Glibc

/// The folders of the library's and the daemon's state, under any path. Each scan writes into the first and each
/// command of a player into the second, so a watch of them would report changes without end.
struct StateFolders: Sendable {
    private struct Folder {
        let device: UInt64
        let inode: UInt64
        let reason: String
    }

    private let folders: [Folder]

    /// The existing folders at these paths; nil: the path of the daemon's is unknown. Blocks as long as their disks do.
    init(library: String, daemon: String?) {
        let remedy = "set state-directory in"
        folders = [
            Self.folder(library, "the library keeps its database in it; \(remedy) [library] to another folder"),
            daemon.flatMap {
                Self.folder($0, "the daemon keeps its state in it; \(remedy) [daemon] to another folder")
            },
        ].compactMap { $0 }
    }

    private static func folder(_ path: String, _ reason: String) -> Folder? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Folder(device: UInt64(status.st_dev), inode: UInt64(status.st_ino), reason: reason)
    }

    /// Reason why the folder of these numbers is not watched; nil: it is not a state folder.
    func reason(_ device: UInt64, _ inode: UInt64) -> String? {
        folders.first { $0.device == device && $0.inode == inode }?.reason
    }
}

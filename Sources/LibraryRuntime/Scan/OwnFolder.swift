import Glibc

/// The folder of the library's own state, wherever a path leads to it. Each scan writes into it, so that a watch of it would
/// never rest.
struct OwnFolder: Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// Reason for which a folder of the library that is this folder itself is not watched.
    static let reason = "the library keeps its database in it; set state-directory in [library] to another folder"

    /// The folder at a path; nil: there is none. Blocks as long as its disk does.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    /// True if this is the folder of these numbers.
    func isSame(_ device: UInt64, _ inode: UInt64) -> Bool { device == self.device && inode == self.inode }
}

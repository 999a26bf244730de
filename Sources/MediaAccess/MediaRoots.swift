import Glibc
package import LinuxSystem

/// The folders below which peers of another uid may name media. Used on worker threads; every call may block.
package struct MediaRoots: Sendable {
    /// Absolute and normalized.
    package let paths: [FilePath]

    /// Folders by their absolute paths; they need not exist.
    package init(_ paths: [String]) { self.paths = paths.compactMap { FilePath(Array($0.utf8))?.normalized } }

    /// Folders by their absolute paths; they need not exist.
    package init(folders: [FilePath]) { paths = folders.map(\.normalized) }

    /// Confined path of an absolute path by its text alone, below the deepest matching root; nil: it is below none.
    package func confinedPath(of path: FilePath) -> ConfinedPath? {
        let clean = path.normalized
        var longest: ConfinedPath?
        for root in paths where root.bytes.count > longest?.root.bytes.count ?? -1 {
            if let rest = clean.below(root) { longest = ConfinedPath(root: root, relative: rest) }
        }
        return longest
    }

    /// True if a foreign peer may see this uri: a network address, or a file below the roots by its text alone.
    package func mayShow(_ uri: String) -> Bool {
        switch MediaAddress(uri) {
        case .remote: true
        case .path(let path), .track(let path, _):
            confinedPath(of: path).map { !$0.relative.leadsUp } ?? false
        case .unplayable: false
        }
    }

    /// True if the root is missing or empty, like the mount point of an unmounted disk.
    func isUnmounted(_ root: FilePath) -> Bool {
        guard let folder = root.withCString({ opendir($0) }) else {
            return errno == ENOENT || errno == ENOTCONN || errno == ENODEV
        }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let isDot = withUnsafeBytes(of: &entry.pointee.d_name) {
                $0[0] == 0x2e && ($0[1] == 0 || ($0[1] == 0x2e && $0[2] == 0))
            }
            if !isDot { return false }
        }
        return true
    }
}

import Glibc
package import LinuxSystem

/// The files that the entries of a playlist below these roots mean, for readers that list them without playing them. On
/// worker threads; calls block.
package struct ListedFiles: Sendable {
    private let lookup: NameLookup

    /// Files of playlists below `roots`. Names in other spellings are searched below the roots only.
    package init(roots: MediaRoots) { lookup = NameLookup(MediaDoor(roots: roots, abandoned: AbandonFlag())) }

    /// The first of the paths that exists, else the first that exists in another spelling; nil: none does.
    package func find(_ paths: [FilePath]) -> FilePath? {
        var status = stat()
        if let there = paths.first(where: { $0.withCString { stat($0, &status) } == 0 }) { return there }
        for path in paths { if case .found(let other) = lookup.find(path) { return other } }
        return nil
    }
}

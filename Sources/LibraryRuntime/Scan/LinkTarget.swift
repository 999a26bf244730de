import Glibc
import LinuxSystem
import MediaAccess

/// Targets of links in the library.
enum LinkTarget {
    /// The folder that would have to be in the library for the target of this link to be; nil: it is in it already, or the link
    /// leads to nothing that plays.
    static func outside(_ link: FilePath, of roots: [RootNames.Root]) -> FilePath? {
        guard let target = resolved(link) else { return nil }
        var status = stat()
        guard target.withCString({ stat($0, &status) }) == 0 else { return nil }
        for root in roots where resolved(root.path).map({ target.below($0) != nil }) == true { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return target
        case S_IFREG:
            return target.bytes.withUnsafeBytes(PlayableSuffixes.present.matches) ? target.folder : nil
        default: return nil
        }
    }

    private static func resolved(_ path: FilePath) -> FilePath? {
        guard let found = path.withCString({ realpath($0, nil) }) else { return nil }
        defer { free(found) }
        return FilePath(UnsafeRawBufferPointer(start: found, count: strlen(found)))
    }
}

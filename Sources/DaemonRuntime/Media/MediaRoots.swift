import Glibc
import LinuxSystem

/// The folders below which peers of another uid may name media. Used on worker threads; every call may block.
package struct MediaRoots: Sendable {
    /// Absolute paths without empty parts, `.` and a slash at the end.
    package let paths: [String]

    /// These folders; they need not exist.
    package init(_ paths: [String]) { self.paths = paths.map { "/" + Self.parts($0).joined(separator: "/") } }

    private static func parts(_ path: String) -> [Substring] { path.split(separator: "/").filter { $0 != "." } }

    /// The place of a path by its text alone, below the deepest root that fits; nil: below none.
    func place(of path: String) -> ConfinedPath? {
        let clean = "/" + Self.parts(path).joined(separator: "/")
        let root = paths.filter { clean == $0 || $0 == "/" || clean.hasPrefix($0 + "/") }.max { $0.count < $1.count }
        guard let root else { return nil }
        return ConfinedPath(root: root, relative: String(clean.dropFirst(root.count).drop { $0 == "/" }))
    }

    /// Whether the root is missing or empty, as the place of a disk is that is not mounted.
    func isUnmounted(_ root: String) -> Bool {
        guard let folder = opendir(root) else { return errno == ENOENT || errno == ENOTCONN || errno == ENODEV }
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

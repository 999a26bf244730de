import CLinux
import Glibc

/// User and groups of the daemon, which decide the files that it can open.
package struct DaemonIdentity: Equatable, Sendable {
    /// The effective user.
    package var user: UInt32
    /// Its group and supplementary groups, if known.
    package var groups: Set<UInt32>

    /// An identity, by its parts.
    package init(user: UInt32, groups: Set<UInt32>) {
        self.user = user
        self.groups = groups
    }

    /// The identity of the process at the other end. Nil: the system does not know it.
    package init?(of connection: Connection) {
        var process: Int32 = 0
        var user: UInt32 = 0
        var group: UInt32 = 0
        guard linux_peer(connection.descriptor, &process, &user, &group) == 0 else { return nil }
        self.user = user
        groups = DaemonIdentity.groups(of: process).union([group])
    }

    /// True if the daemon runs as this program's user, with the same access to files.
    package var isSelf: Bool { user == geteuid() }

    /// True if the modes on the path to this file allow the daemon to read it. It ignores access lists, so the answer may be
    /// false although the daemon can read the file.
    package func mayRead(_ path: [UInt8]) -> Bool {
        if user == 0 { return true }
        var offset = 0
        while let slash = path[offset...].firstIndex(of: UInt8(ascii: "/")) {
            let folder = slash == 0 ? [UInt8(ascii: "/")] : Array(path[..<slash])
            guard allows(folder, 0o1) else { return false }
            offset = slash + 1
        }
        return allows(path, 0o4)
    }

    /// True if the mode gives the daemon these bits (of `rwx`).
    private func allows(_ path: [UInt8], _ bits: UInt32) -> Bool {
        var status = stat()
        let isThere = (path + [0]).withUnsafeBytes { stat($0.bindMemory(to: CChar.self).baseAddress!, &status) == 0 }
        // The daemon reports a missing file itself.
        guard isThere else { return true }
        let shift: UInt32 = status.st_uid == user ? 6 : groups.contains(status.st_gid) ? 3 : 0
        return status.st_mode >> shift & bits == bits
    }

    private static func groups(of process: Int32) -> Set<UInt32> {
        let file = open("/proc/\(process)/status", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = Glibc.read(file, &bytes, bytes.count)
        for line in bytes.prefix(max(0, count)).split(separator: UInt8(ascii: "\n"))
        where line.starts(with: "Groups:".utf8) {
            return Set(
                String(decoding: line.dropFirst(7), as: UTF8.self).split { $0 == " " || $0 == "\t" }
                    .compactMap { UInt32($0) })
        }
        return []
    }
}

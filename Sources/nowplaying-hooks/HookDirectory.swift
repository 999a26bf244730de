import Glibc

/// The programs in `hooks.d`.
enum HookDirectory {
    /// Hooks that are read of one folder, at most.
    private static let maximumEntries = 1000

    /// The paths of possible hooks in this folder, in the order of their names: visible files that some user may
    /// execute, without the copies of editors and packages. Nil: the folder can't be read.
    static func paths(in folder: String) -> [String]? {
        guard let entries = opendir(folder) else { return nil }
        defer { closedir(entries) }
        var names: [String] = []
        while names.count < maximumEntries, let entry = readdir(entries) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(validating: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let name, isHookName(name) else { continue }
            var status = stat()
            guard stat(folder + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                status.st_mode & 0o111 != 0
            else { continue }
            names.append(name)
        }
        return names.sorted().map { folder + "/" + $0 }
    }

    /// True for a name of letters, digits, `_`, `-` and `.` that does not start with `.` or end like a copy (`.bak`).
    static func isHookName(_ name: String) -> Bool {
        let left = [".disabled", ".sample", ".dpkg-old", ".dpkg-new", ".dpkg-dist", ".bak", ".orig"]
        return !name.hasPrefix(".") && !left.contains { name.hasSuffix($0) }
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}

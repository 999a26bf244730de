import Glibc

/// The programs in `hooks.d`.
enum HookDirectory {
    /// Entries of one folder that are looked at, at most.
    private static let maximumEntries = 1000

    /// The paths of what could be a hook in this folder, in the order of their names: visible files that are executable
    /// for anybody, but for copies that editors and packages leave behind. Nil: the folder can't be read.
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

    /// Letters, digits, `_`, `-` and `.`, the last not in front.
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

import CLinux
import Glibc

/// The folder of a program's state. A box whose disk is read-only keeps it in memory until the machine restarts.
package enum StateFolder {
    /// Deepest level of folders that is copied.
    private static let maximumDepth = 4

    /// The wanted folder. If that is on a read-only disk: `PROGRAM-state` in the runtime directory, at first with a copy of
    /// what the wanted one has, and a warning in the log. Without a runtime directory, or without room there, it is the
    /// wanted folder in spite of all. `environment` returns variables that are set and not empty. It waits for the disk:
    /// call it before the program serves anybody.
    package static func usable(
        _ wanted: String, of program: String, keeps what: String, environment: (String) -> String?
    ) -> String {
        guard isReadOnly(wanted), let runtime = runtime(environment) else { return wanted }
        let folder = runtime + "/" + program + "-state"
        if access(folder, F_OK) != 0 {
            let fresh = folder + ".new"
            removeTree(fresh)
            do throws(SystemError) {
                try copyTree(wanted, fresh, depth: 0)
                guard rename(fresh, folder) == 0 else { throw SystemError("rename \(fresh)") }
            } catch {
                removeTree(fresh)
                Log.warning(
                    "\(wanted) is on a read-only disk, and memory can't take its place: \(error.message)",
                    LogFields(.stateNotSaved))
                return wanted
            }
        }
        Log.warning(
            "\(wanted) is on a read-only disk: \(what) stay in memory (\(folder)) until this machine restarts; name a "
                + "writable folder with state-directory to keep them", LogFields(.stateInMemory))
        return folder
    }

    /// True if the folder, or the nearest one above it that is there, is on a read-only disk.
    static func isReadOnly(_ path: String) -> Bool {
        var path = path
        while access(path, W_OK) != 0 {
            if errno == EROFS { return true }
            guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return false }
            path = String(path[..<slash])
        }
        return false
    }

    private static func runtime(_ environment: (String) -> String?) -> String? {
        if let folder = environment("RUNTIME_DIRECTORY")?.split(separator: ":").first { return String(folder) }
        return environment("XDG_RUNTIME_DIR") ?? (geteuid() == 0 ? "/run" : nil)
    }

    /// Copies regular files and folders, with mode 0600 and 0700. A `source` that is not there is an empty folder.
    private static func copyTree(_ source: String, _ target: String, depth: Int) throws(SystemError) {
        guard mkdir(target, 0o700) == 0 else { throw SystemError("make the folder \(target)") }
        for name in try names(in: source) {
            let (from, to) = (source + "/" + name, target + "/" + name)
            switch kind(of: from) {
            case S_IFREG: try copy(from, to)
            case S_IFDIR where depth < maximumDepth: try copyTree(from, to, depth: depth + 1)
            default: continue
            }
        }
    }

    private static func copy(_ source: String, _ target: String) throws(SystemError) {
        let input = linux_open(source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0)
        guard input >= 0 else { throw SystemError("open \(source)") }
        defer { close(input) }
        let output = linux_open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard output >= 0 else { throw SystemError("make \(target)") }
        defer { close(output) }
        var piece = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = read(input, &piece, piece.count)
            if count == 0 { return }
            if count < 0, errno == EINTR { continue }
            // A regular file takes all or has no room.
            guard count > 0, write(output, piece, count) == count else { throw SystemError("copy \(source)") }
        }
    }

    private static func removeTree(_ path: String) {
        if kind(of: path) == S_IFDIR {
            for name in (try? names(in: path)) ?? [] { removeTree(path + "/" + name) }
        }
        remove(path)
    }

    private static func kind(of path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Names in a folder that are UTF-8, as all names of ours are; none if there is no folder.
    private static func names(in folder: String) throws(SystemError) -> [String] {
        guard let stream = opendir(folder) else {
            if errno == ENOENT { return [] }
            throw SystemError("read the folder \(folder)")
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(validating: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name, name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

import Glibc
import NowPlayingClient

/// A program that is safe to run as a hook: only root and the hooks' user can write it and the folders above it.
struct HookFile: Equatable {
    /// The path as it was named.
    var path: String
    /// The path without symbolic links; this file runs.
    var resolved: String

    /// Reason why a file is not run, in words.
    struct Refusal: Error, Equatable {
        var reason: String
    }

    /// Checks the file at an absolute path. `user`: the user that runs the hooks. Throws a refusal.
    init(_ path: String, user: UInt32 = geteuid()) throws(Refusal) {
        guard let found = realpath(path, nil) else { throw Refusal(reason: SystemText.error(errno)) }
        resolved = String(cString: found)
        free(found)
        self.path = path
        var status = stat()
        guard stat(resolved, &status) == 0 else { throw Refusal(reason: SystemText.error(errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Refusal(reason: "it is not a regular file") }
        try HookFile.judge(status, user, "it ", resolved)
        guard access(resolved, X_OK) == 0 else {
            throw Refusal(reason: "it is not executable for this user; try: chmod +x")
        }
        try HookFile.judgeFolders(of: resolved, user)
        // The folder of the link, if the name is a link.
        if path != resolved { try HookFile.judgeFolders(of: path, user) }
    }

    /// Checks that others cannot put hooks into this folder. Throws a refusal otherwise.
    static func judgeFolder(_ folder: String, user: UInt32 = geteuid()) throws(Refusal) {
        try judgeFolders(of: folder + "/x", user)
    }

    private static func judgeFolders(of path: String, _ user: UInt32) throws(Refusal) {
        var folder = path[...]
        var isFirst = true
        while let slash = folder.lastIndex(of: "/") {
            folder = folder[..<slash]
            let name = folder.isEmpty ? "/" : String(folder)
            var status = stat()
            guard stat(name, &status) == 0 else {
                throw Refusal(reason: "the folder \(name): \(SystemText.error(errno))")
            }
            // A folder further up, such as /tmp, may be writable by others if its sticky bit keeps them from replacing
            // our folder.
            if isFirst || status.st_mode & S_ISVTX == 0 { try judge(status, user, "the folder \(name) ", name) }
            isFirst = false
        }
    }

    private static func judge(_ status: stat, _ user: UInt32, _ what: String, _ path: String) throws(Refusal) {
        guard status.st_uid == 0 || status.st_uid == user else {
            throw Refusal(reason: what + "belongs to user \(status.st_uid), neither root nor the user of the hooks")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw Refusal(reason: what + "is writable by others; try: chmod go-w '\(path)'")
        }
    }
}

import Glibc

/// Rights of the user of a Snapcast server at the daemon, and the commands that give the missing ones.
struct RoomsRights {
    /// The group whose members may send remote commands, as the package makes it.
    static let group = "nowplayingd-remote"

    /// The server's user.
    let user: String
    /// The configuration that the server's control script reads.
    let file: String
    /// True if this machine has the group.
    let hasGroup: Bool
    /// True if the user is in the group.
    let isMember: Bool
    /// True if the configuration lets apps of Snapcast control playback; nil: this user may not read it.
    let allowsCommands: Bool?

    /// Rights of a user with this home directory, whose configuration is read now.
    init(user: String, home: String, hasGroup: Bool, isMember: Bool) {
        self.user = user
        self.hasGroup = hasGroup
        self.isMember = isMember
        file = home + "/.config/nowplayingd.conf"
        allowsCommands = Self.allowsCommands(file)
    }

    /// Rights of a user of this machine; nil: it has none of this name.
    init?(of user: String) {
        guard let entry = getpwnam(user) else { return nil }
        let (home, own) = (String(cString: entry.pointee.pw_dir), entry.pointee.pw_gid)
        let group = getgrnam(Self.group)
        var isMember = group?.pointee.gr_gid == own
        var member = group?.pointee.gr_mem
        while let name = member?.pointee {
            if String(cString: name) == user { isMember = true }
            member = member?.advanced(by: 1)
        }
        self.init(user: user, home: home, hasGroup: group != nil, isMember: isMember)
    }

    /// Commands for the user's right, each with its words. `allows`: also for that of apps; else their right stays as it is.
    /// Empty: nothing is missing.
    func commands(allows: Bool) -> [[String]] {
        let root = geteuid() == 0 ? [] : ["sudo"]
        var commands: [[String]] = []
        if !hasGroup { commands.append(["groupadd", "--system", Self.group]) }
        if !isMember { commands.append(["usermod", "--append", "--groups", Self.group, user]) }
        if allows, allowsCommands != true { commands += edits }
        if !commands.isEmpty { commands.append(["systemctl", "restart", "snapserver"]) }
        return commands.map { root + $0 }
    }

    /// Commands that set the one line, and keep all others. They work without a look into the file, which only root may read.
    /// They run with the rights of the server's user, to whom the folders belong: a link that this user has put there leads to
    /// no file of others.
    private var edits: [[String]] {
        let isUser = getpwnam(user).map { $0.pointee.pw_uid == geteuid() } ?? false
        let words = isUser ? [] : ["runuser", "-u", user, "--"]
        let folder = Completion.quoted(String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)]))
        let quoted = Completion.quoted(file)
        return [
            ["sh", "-c", "test -d \(folder) || mkdir -p \(folder)"],
            ["sh", "-c", "grep -qs '^\\[snapcast\\]' \(quoted) || printf '\\n[snapcast]\\n' >> \(quoted)"],
            [
                "sed", "--in-place", "--follow-symlinks", "-e", "/^\\[snapcast\\]/,/^\\[/{/^commands[ \\t]*[=:]/d}",
                "-e",
                "/^\\[snapcast\\]/a commands = yes", file,
            ],
        ].map { words + $0 }
    }

    private static func allowsCommands(_ path: String) -> Bool? {
        // The folders belong to a foreign user: a pipe in place of the file must not hold this program.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return errno == ENOENT ? false : nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        let count = read(descriptor, &buffer, buffer.count)
        let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        var (isOurs, allows) = (false, false)
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") { isOurs = line.hasPrefix("[snapcast]") }
            let words = line.split { " \t=:".contains($0) }
            if isOurs, words.first == "commands" { allows = words.dropFirst().first == "yes" }
        }
        return allows
    }
}

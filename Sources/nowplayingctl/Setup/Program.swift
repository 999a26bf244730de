import CLinux
import Glibc

/// Other programs, run to their end.
enum Program {
    /// Runs a program. Returns its exit status, or 128 plus the number of the signal that ended it; 127: it cannot be started.
    /// Its output goes to the user's terminal, or to /dev/null with `isQuiet`.
    static func run(_ words: [String], isQuiet: Bool = false) -> Int32 {
        guard isQuiet else { return start(words, output: nil) }
        let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(nowhere) }
        return start(words, output: nowhere)
    }

    /// True if there is an executable file of this path, or of this name in PATH.
    static func exists(_ program: String) -> Bool {
        guard !program.contains("/") else { return isExecutable(program) }
        let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return folders.split(separator: ":", omittingEmptySubsequences: false)
            .contains { isExecutable("\($0.isEmpty ? "." : $0)/\(program)") }
    }

    private static func isExecutable(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }

    /// Captures its standard output without the line end; at most 4 KiB.
    static func output(of words: [String]) -> String {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return "" }
        defer { close(ends[0]) }
        _ = start(words, output: ends[1])
        close(ends[1])
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(ends[0], &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// The lines of its standard output, which has at most 64 KiB.
    static func lines(of words: [String]) -> [String] {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return [] }
        defer { close(ends[0]) }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        _ = start(words, output: ends[1])
        close(ends[1])
        var bytes = [UInt8](repeating: 0, count: 65536)
        var text: [UInt8] = []
        while case let count = read(ends[0], &bytes, bytes.count), count > 0, text.count < bytes.count {
            text += bytes[..<count]
        }
        return text.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The last line of its standard error if it fails; nil: it succeeds.
    static func complaint(of words: [String]) -> String? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
        let status = start(words, output: nowhere, errors: ends[1])
        close(nowhere)
        close(ends[1])
        guard status != 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(ends[0], &bytes, bytes.count)
        return bytes.prefix(max(0, count)).split(separator: UInt8(ascii: "\n")).last.map {
            String(decoding: $0, as: UTF8.self)
        } ?? ""
    }

    private static func start(_ words: [String], output: Int32?, errors: Int32? = nil) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let output {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_adddup2(&actions, output, 1)
            if let errors {
                posix_spawn_file_actions_adddup2(&actions, errors, 2)
            } else {
                posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
            }
        }
        let arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        guard posix_spawnp(&process, words[0], &actions, nil, arguments, environ) == 0 else { return 127 }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}

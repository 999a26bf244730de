import Glibc
import TestSupport

/// A program that a test has started, and its standard error.
final class ChildProgram {
    /// The end to read its standard error from.
    let complaint: Int32
    /// The end to read its standard output from; -1 where that goes elsewhere.
    let output: Int32
    /// Its process.
    let process: pid_t
    private var status: Int32?

    /// Starts `words[0]`, found in the search path, with this environment. `outputPath`: where its standard output goes,
    /// instead of to `output`.
    /// `inputPath`: where its standard input comes from.
    init(
        _ words: [String], environment: [String: String], outputPath: String? = nil, inputPath: String = "/dev/null"
    ) {
        let out = ChildProgram.pair()
        let err = ChildProgram.pair()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, inputPath, O_RDONLY | O_NOCTTY, 0)
        if let outputPath {
            posix_spawn_file_actions_addopen(&actions, 1, outputPath, O_RDWR | O_NOCTTY, 0)
        } else {
            posix_spawn_file_actions_adddup2(&actions, out.1, 1)
        }
        posix_spawn_file_actions_adddup2(&actions, err.1, 2)
        let arguments = words.map { strdup($0) } + [nil]
        let settings = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in arguments + settings { free(word) } }
        var process = pid_t()
        let failure = withSpawnAttributes {
            posix_spawnp(&process, words[0], &actions, $0, arguments, settings)
        }
        precondition(failure == 0, "can't start \(words[0]): \(failure)")
        self.process = process
        output = out.0
        complaint = err.0
        close(out.1)
        close(err.1)
    }

    deinit {
        if status == nil { end(by: SIGKILL) }
        close(output)
        close(complaint)
    }

    /// Waits for output, and appends the available bytes to `bytes`. False: the other end was closed.
    static func read(_ descriptor: Int32, into bytes: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        if count > 0 { bytes += buffer[..<count] }
        return count > 0
    }

    /// Sends it a signal and waits for its end.
    @discardableResult func end(by signal: Int32) -> Int32 {
        if status == nil { kill(process, signal) }
        return wait()
    }

    /// Waits for its end and returns its exit status, or 128 more than the signal that ended it.
    func wait() -> Int32 {
        if let status { return status }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let result = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
        self.status = result
        return result
    }

    /// Two connected ends that no other child inherits.
    private static func pair() -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        precondition(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        return (ends[0], ends[1])
    }
}

import Glibc

/// A run of the real nowplayingctl. Ends with its last reference, if it has not ended by itself.
final class Tool {
    /// What a run that has ended left behind.
    struct Outcome {
        var status: Int32
        var output: String
        var complaint: String
    }

    private let process: pid_t
    private let output: Int32
    private let complaint: Int32
    private var outputBytes: [UInt8] = []
    private var complaintBytes: [UInt8] = []
    private var isOver = false

    /// The program beside the tests.
    static let program: String = {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let candidates = [own] + CommandLine.arguments
        for candidate in candidates {
            guard let range = candidate.firstRange(of: "/debug/") ?? candidate.firstRange(of: "/release/") else {
                continue
            }
            let path = candidate[..<range.upperBound] + "nowplayingctl"
            if access(String(path), X_OK) == 0 { return String(path) }
        }
        preconditionFailure("nowplayingctl was not built beside \(candidates)")
    }()

    /// Starts `nowplayingctl` with these arguments; `socket` goes into its environment. `terminal`: a pseudoterminal's
    /// name for its standard output.
    init(_ arguments: [String], socket: String?, environment: [String: String] = [:], terminal: String? = nil) {
        var out: [Int32] = [-1, -1]
        var err: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        precondition(socketpair(AF_UNIX, kind, 0, &out) == 0 && socketpair(AF_UNIX, kind, 0, &err) == 0)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        if let terminal {
            posix_spawn_file_actions_addopen(&actions, 1, terminal, O_RDWR | O_NOCTTY, 0)
        } else {
            posix_spawn_file_actions_adddup2(&actions, out[1], 1)
        }
        posix_spawn_file_actions_adddup2(&actions, err[1], 2)
        // The threads of the tests block signals; the program is to have them all.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var variables = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "XDG_RUNTIME_DIR": "/nonexistent"]
        variables["NOWPLAYING_SOCKET"] = socket
        variables.merge(environment) { $1 }
        let program = environment["PROGRAM"] ?? Tool.program
        let words = ([program] + arguments).map { strdup($0) } + [nil]
        let settings = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in words + settings { free(word) } }
        var process = pid_t()
        let failure = posix_spawn(&process, program, &actions, &attributes, words, settings)
        precondition(failure == 0, "can't start \(program): \(failure)")
        self.process = process
        output = out[0]
        complaint = err[0]
        close(out[1])
        close(err[1])
    }

    deinit {
        if !isOver {
            kill(process, SIGKILL)
            reap()
        }
        close(output)
        close(complaint)
    }

    /// Waits for the end.
    func outcome() -> Outcome {
        while read(output, into: &outputBytes) {}
        while read(complaint, into: &complaintBytes) {}
        let status = reap()
        return Outcome(
            status: status, output: String(decoding: outputBytes, as: UTF8.self),
            complaint: String(decoding: complaintBytes, as: UTF8.self))
    }

    /// The next line of its standard output; nil at its end.
    func line() -> String? {
        while true {
            if let end = outputBytes.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: outputBytes[..<end], as: UTF8.self)
                outputBytes.removeSubrange(...end)
                return line
            }
            guard read(output, into: &outputBytes) else { return nil }
        }
    }

    /// Waits until it has complained of something that contains `text`.
    func complained(of text: String) -> Bool {
        while !String(decoding: complaintBytes, as: UTF8.self).contains(text) {
            guard read(complaint, into: &complaintBytes) else { return false }
        }
        return true
    }

    /// Runs it to its end.
    static func run(_ arguments: [String], socket: String?, environment: [String: String] = [:]) -> Outcome {
        Tool(arguments, socket: socket, environment: environment).outcome()
    }

    private func read(_ descriptor: Int32, into bytes: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        if count > 0 { bytes += buffer[..<count] }
        return count > 0
    }

    @discardableResult private func reap() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        isOver = true
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}

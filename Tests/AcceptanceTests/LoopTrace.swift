import TestSupport

/// The wake-ups of a daemon's loop, counted by its calls under strace: a wait that may sleep, and returns. A look without a
/// wait is none, and neither is the time that the process waits for a processor.
enum LoopTrace {
    private static let calls = ["epoll_wait", "epoll_pwait", "epoll_pwait2"]

    /// Words in front of a command line that write those calls of its first thread into `path`.
    static func words(_ path: String) -> [String] {
        ["strace", "-D", "-qq", "--seccomp-bpf", "-f", "-o", path, "-e", "trace=" + calls.joined(separator: ",")]
    }

    /// Number of waits that ended, in strace's text.
    static func wakeups(_ text: [UInt8]) -> Int {
        String(decoding: text, as: UTF8.self).split(separator: "\n").count { line in
            // `PID epoll_wait(4, [{…}], 8, -1) = 1`; the last argument of a look is 0.
            guard !line.hasSuffix("<unfinished ...>"), line.contains("epoll_"), line.contains(") = ") else {
                return false
            }
            return !line.contains(", 0) = ") && !line.contains("{tv_sec=0, tv_nsec=0}")
        }
    }
}

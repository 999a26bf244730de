import TestSupport

/// The instants at which a daemon's loop wakes, by its calls under strace: a wait that may sleep, and returns. A look without a
/// wait is none, and neither is the time that the process waits for a processor.
enum LoopTrace {
    private static let calls = ["epoll_wait", "epoll_pwait", "epoll_pwait2"]
    /// Seconds without a wake-up after which a processor has been at rest.
    private static let rest = 0.05

    /// Words in front of a command line that write those calls of its first thread into `path`, with their instants.
    static func words(_ path: String) -> [String] {
        let calls = calls.joined(separator: ",")
        return ["strace", "-D", "-qq", "-ttt", "--seccomp-bpf", "-f", "-o", path, "-e", "trace=" + calls]
    }

    /// Number of times that the loop woke after a rest, in strace's text. A message of a server comes as one wake-up or as
    /// several, as the scheduler likes: those of one moment count once.
    static func moments(_ text: [UInt8]) -> Int {
        let times = String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap(wakeup)
        return zip(times, times.dropFirst()).count { $1 - $0 > rest } + (times.isEmpty ? 0 : 1)
    }

    /// Instant of a wait that ended, in seconds; nil: another line.
    private static func wakeup(_ line: Substring) -> Double? {
        // `PID 1764415000.123456 epoll_wait(4, [{…}], 8, -1) = 1`; the last argument of a look is 0.
        guard !line.hasSuffix("<unfinished ...>"), line.contains("epoll_"), line.contains(") = "),
            !line.contains(", 0) = "), !line.contains("{tv_sec=0, tv_nsec=0}")
        else { return nil }
        let words = line.split(separator: " ", maxSplits: 2)
        return words.count > 1 ? Double(words[1]) : nil
    }
}

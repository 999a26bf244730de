import Glibc
import TestSupport

/// A process's calls under strace that can put it to sleep for a time.
struct TimerTrace {
    /// Those calls. A call without a time limit, such as a read, wakes only by another event.
    static let calls = [
        "timerfd_settime", "timer_settime", "setitimer", "alarm", "nanosleep", "clock_nanosleep", "epoll_wait",
        "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6", "futex", "rt_sigtimedwait",
        "io_getevents",
        "semtimedop", "mq_timedreceive",
    ]

    /// True if processes can be traced here.
    static let isPossible: Bool =
        TestProcess.run(["strace", "-D", "-qq", "-o", "/dev/null", "true"], environment: currentEnvironment()).status
        == 0

    /// Words in front of a command line that write its calls into `path`. The process itself is the one that is started.
    static func words(_ path: String) -> [String] {
        ["strace", "-D", "-f", "-qq", "--seccomp-bpf", "-o", path, "-e", "trace=" + calls.joined(separator: ",")]
    }

    /// A timer of the process: seconds of its clock at which it is due, nil where it is not armed.
    struct Timer {
        var due: Double?
        /// True if it never fires by itself, only when the wall clock is set (TFD_TIMER_CANCEL_ON_SET).
        var isAlarmOfTheClock: Bool
    }

    /// By descriptor, as they stand at the end.
    private(set) var timers: [String: Timer] = [:]
    /// Lines of calls that wake the process later without being a timer that is set once.
    private(set) var limits: [String] = []
    /// Number of calls.
    private(set) var count = 0

    init(_ text: String) {
        var begun: [Substring: String] = [:]
        for line in text.split(separator: "\n") {
            guard let space = line.firstIndex(of: " ") else { continue }
            let thread = line[..<space]
            var call = String(line[space...].drop { $0 == " " })
            if let range = call.firstRange(of: "<unfinished ...>") {
                begun[thread] = String(call[..<range.lowerBound])
                continue
            }
            if call.hasPrefix("<... "), let range = call.firstRange(of: "resumed>") {
                call = (begun.removeValue(forKey: thread) ?? "") + call[range.upperBound...]
            }
            guard let bracket = call.firstIndex(of: "("), Self.calls.contains(String(call[..<bracket])) else {
                continue
            }
            count += 1
            take(String(call[..<bracket]), call)
        }
        // Those that wait when the trace ends.
        for call in begun.values {
            guard let bracket = call.firstIndex(of: "(") else { continue }
            take(String(call[..<bracket]), call)
        }
    }

    private mutating func take(_ name: String, _ call: String) {
        switch name {
        case "timerfd_settime": setTimer(call)
        case "epoll_wait", "epoll_pwait", "poll":
            // The last number in the brackets, or the one before the signal mask: -1 waits for ever, 0 not at all.
            guard let end = call.firstRange(of: ") = ") else { return }
            let numbers = call[..<end.lowerBound].split { ", (".contains($0) }.compactMap { Int($0) }
            let limit = name == "epoll_pwait" ? numbers.dropLast().last : numbers.last
            if let limit, limit > 0 { limits.append(call) }
        case "ppoll", "pselect6", "select", "epoll_pwait2", "futex", "rt_sigtimedwait", "semtimedop":
            let isSpan = call.contains("tv_sec=") && !call.contains("{tv_sec=0, tv_nsec=0}")
            if isSpan { limits.append(call) }
        default: limits.append(call)
        }
    }

    private mutating func setTimer(_ call: String) {
        let descriptor = String(call.drop { $0 != "(" }.dropFirst().prefix { $0 != "," })
        if !call.contains("it_interval={tv_sec=0, tv_nsec=0}") { limits.append(call) }
        guard let range = call.firstRange(of: "it_value={tv_sec=") else { return }
        let numbers = call[range.upperBound...].prefix { $0 != "}" }.split { !$0.isNumber }.compactMap { Double($0) }
        let due = numbers.count == 2 ? numbers[0] + numbers[1] / 1e9 : 0
        timers[descriptor] = Timer(
            due: due == 0 ? nil : due, isAlarmOfTheClock: call.contains("TFD_TIMER_CANCEL_ON_SET"))
    }

    /// When the timers that have not fired yet are due, on the monotonic clock.
    var due: [Double] {
        let now = now()
        return timers.values.filter { !$0.isAlarmOfTheClock }.compactMap(\.due).filter { $0 > now }
    }
}

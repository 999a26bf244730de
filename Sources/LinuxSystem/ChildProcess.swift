import CLinux
import Glibc
import NowPlaying
import Synchronization

/// A child process that runs one of our programs. The end of this object kills and reaps it.
///
/// One thread starts and reaps the children. It begins with the first child and lasts as long as the process: the kernel
/// kills a child when the thread that started it ends (PR_SET_PDEATHSIG). The thread sleeps between events.
package final class ChildProcess: Sendable {
    /// The pid; not reused while this object lives.
    package let pid: Int32

    private init(pid: pid_t) { self.pid = pid }

    deinit { ChildKeeper.shared.end(pid) }

    /// Waits until the process has ended, at most `seconds`. Its exit status; nil: it runs, or a signal ended it.
    package func exitStatus(within seconds: Double) -> Int32? {
        let descriptor = linux_pidfd_open(pid)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let end = MonotonicTime.now.advanced(bySeconds: seconds)
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var info = siginfo_t()
        while true {
            let rest = Int32(clamping: (end.seconds(since: .now) * 1000).rounded(.up))
            if poll(&polled, 1, max(0, rest)) < 0, errno == EINTR { continue }
            // The end of this object reaps it.
            guard polled.revents != 0, waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0,
                info.si_code == CLD_EXITED
            else { return nil }
            return info._sifields._sigchld.si_status
        }
    }

    /// Processor time of the process `pid` in nanoseconds; it does not grow while the process waits. 0: there is no
    /// such process.
    package static func processorTime(of pid: Int32) -> Int64 {
        var clock: clockid_t = 0
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// True while the first thread of the process `pid` computes or waits for a processor.
    package static func isRunnable(_ pid: Int32) -> Bool { ThreadNumber.isRunnable(stat: "/proc/\(pid)/stat") }

    /// Gives a process of one thread the lowest priority for disk and processor. Best effort.
    package static func lowerPriority(of pid: Int32) { linux_lower_priority(pid) }

    /// Starts the program at this absolute path with these arguments and an empty environment. It gets the descriptors as
    /// 3, 4 … in this order, /dev/null as 0, 1 and 2, and no others; all signals are as in a fresh process. May block for
    /// milliseconds. Throws `SystemError`.
    package static func start(
        _ path: String, _ arguments: [String], descriptors: [Int32]
    ) throws(SystemError) -> ChildProcess {
        let result = ChildKeeper.shared.start(path, arguments, descriptors)
        guard result > 0 else { throw SystemError("start \(path)", code: -result) }
        return ChildProcess(pid: result)
    }
}

/// The thread that starts and reaps.
private final class ChildKeeper: Sendable {
    static let shared = ChildKeeper()

    private struct State {
        var isRunning = false
        /// Programs to start; each result replaces its ticket in `started`.
        var waiting: [(ticket: Int, path: String, arguments: [String], descriptors: [Int32])] = []
        var nextTicket = 0
        /// Pids, or negative numbers of errors.
        var started: [Int: pid_t] = [:]
        /// Killed, but not reaped yet.
        var dying: [pid_t] = []
    }

    private let state = Mutex(State())
    private let wakeup = eventfd(0, Int32(EFD_CLOEXEC))
    private let answered = eventfd(0, Int32(EFD_CLOEXEC | EFD_SEMAPHORE))
    private let turn = Mutex(())

    func start(_ path: String, _ arguments: [String], _ descriptors: [Int32]) -> pid_t {
        // One caller at a time: `answered` does not name the caller.
        turn.withLock { _ in
            let (ticket, begins) = state.withLock { state in
                state.nextTicket += 1
                state.waiting.append((state.nextTicket, path, arguments, descriptors))
                defer { state.isRunning = true }
                return (state.nextTicket, !state.isRunning)
            }
            if begins, !DetachedThread.start("children", { self.serve() }) {
                state.withLock { state in
                    state.isRunning = false
                    state.waiting.removeAll()
                }
                return -EAGAIN
            }
            notify(wakeup)
            var count: UInt64 = 0
            while read(answered, &count, 8) < 0, errno == EINTR {}
            return state.withLock { $0.started.removeValue(forKey: ticket) ?? -EAGAIN }
        }
    }

    func end(_ pid: pid_t) {
        kill(pid, SIGKILL)
        state.withLock { $0.dying.append(pid) }
        notify(wakeup)
    }

    private func notify(_ descriptor: Int32) {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    private func serve() {
        /// Killed processes that are not reaped yet, each with a descriptor that becomes readable at its end.
        var dying: [(pid: pid_t, descriptor: Int32)] = []
        while true {
            var polled = [pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0)]
            polled += dying.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            guard poll(&polled, nfds_t(polled.count), -1) > 0 else { continue }
            if polled[0].revents != 0 {
                var count: UInt64 = 0
                _ = read(wakeup, &count, 8)
            }
            let (waiting, new) = state.withLock { state in
                defer {
                    state.waiting = []
                    state.dying = []
                }
                return (state.waiting, state.dying)
            }
            for pid in new { dying.append((pid, linux_pidfd_open(pid))) }
            dying.removeAll { child in
                // Without a descriptor, waitpid blocks until the end.
                guard waitpid(child.pid, nil, child.descriptor < 0 ? 0 : WNOHANG) != 0 else { return false }
                if child.descriptor >= 0 { close(child.descriptor) }
                return true
            }
            for order in waiting {
                let pid = spawn(order.path, order.arguments, order.descriptors)
                state.withLock { $0.started[order.ticket] = pid }
                notify(answered)
            }
        }
    }

    /// posix_spawn(3); the pid, or the negative number of the error.
    private func spawn(_ path: String, _ arguments: [String], _ descriptors: [Int32]) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The descriptors move above all targets first, so that none overwrites one that has not moved yet.
        let base = Int32(3 + descriptors.count)
        var parked: [Int32] = []
        for descriptor in descriptors {
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, base)
            guard copy >= 0 else { break }
            parked.append(copy)
        }
        defer { for copy in parked { close(copy) } }
        guard parked.count == descriptors.count else { return -errno }
        for number in Int32(0)...2 {
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
        }
        for (index, copy) in parked.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, copy, Int32(3 + index))
        }
        linux_close_from(&actions, base)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var texts: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for text in texts { free(text) } }
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        var pid = pid_t()
        let error = posix_spawn(&pid, path, &actions, &attributes, &texts, &environment)
        return error == 0 ? pid : -error
    }
}

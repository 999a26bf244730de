import CLinux
import Glibc
import LinuxSystem
import NowPlaying
import Synchronization

/// Limits the threads of a scan to a quarter of one processor while music plays. Any thread.
final class ScanPace: Sendable {
    private struct State {
        var isLimited = false
        /// Seconds of processor time since the limit was set.
        var spent = 0.0
        var since = MonotonicTime.now
    }

    private let state = Mutex(State())
    /// Readable while there is no limit.
    private let bell = eventfd(1, Int32(EFD_CLOEXEC | EFD_NONBLOCK))

    /// Share of one processor for a scan, at most.
    static let share = 0.25
    /// Seconds of processor time by which a scan may exceed its share.
    private static let ahead = 0.02

    deinit { close(bell) }

    /// Sets or lifts the limit.
    func setLimited(_ isLimited: Bool) {
        state.withLock { state in
            guard state.isLimited != isLimited else { return }
            state = State(isLimited: isLimited)
            var count: UInt64 = 1
            if isLimited { _ = read(bell, &count, 8) } else { _ = write(bell, &count, 8) }
        }
    }

    /// Counts nanoseconds of processor time.
    func spend(_ nanoseconds: Int64) {
        state.withLock { if $0.isLimited { $0.spent += Double(nanoseconds) / 1e9 } }
    }

    /// Waits until the scan may use the processor again.
    func wait() {
        while true {
            let seconds = state.withLock { state -> Double in
                guard state.isLimited else { return 0 }
                let now = MonotonicTime.now
                let allowed = now.seconds(since: state.since) * Self.share
                if allowed > state.spent {
                    // Unused time does not accumulate.
                    state.spent = 0
                    state.since = now
                }
                return (state.spent - allowed - Self.ahead) / Self.share
            }
            guard seconds > 0 else { return }
            var polled = pollfd(fd: bell, events: Int16(POLLIN), revents: 0)
            poll(&polled, 1, Int32(clamping: min(1000, (seconds * 1000).rounded(.up))))
        }
    }
}

/// Meter of one thread's processor time.
struct ThreadMeter {
    private var last = ThreadMeter.now

    /// Processor time since the last call in nanoseconds.
    mutating func take() -> Int64 {
        let now = Self.now
        defer { last = now }
        return now - last
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

import CLinux
import Glibc
import LinuxSystem
import NowPlaying
import Synchronization

/// Holds the threads of a scan to a quarter of one processor while music plays. Any thread.
final class ScanPace: Sendable {
    private struct State {
        var isLimited = false
        /// Seconds of the processor since the limit holds.
        var spent = 0.0
        var since = MonotonicTime.now
    }

    private let state = Mutex(State())
    /// Readable while no limit holds.
    private let bell = eventfd(1, Int32(EFD_CLOEXEC | EFD_NONBLOCK))

    /// Part of one processor that a scan takes at most.
    static let share = 0.25
    /// Seconds of the processor that a scan may be ahead.
    private static let ahead = 0.02

    deinit { close(bell) }

    /// Sets the limit or lifts it.
    func setLimited(_ isLimited: Bool) {
        state.withLock { state in
            guard state.isLimited != isLimited else { return }
            state = State(isLimited: isLimited)
            var count: UInt64 = 1
            if isLimited { _ = read(bell, &count, 8) } else { _ = write(bell, &count, 8) }
        }
    }

    /// Counts nanoseconds of the processor.
    func spend(_ nanoseconds: Int64) {
        state.withLock { if $0.isLimited { $0.spent += Double(nanoseconds) / 1e9 } }
    }

    /// Waits until more of the processor may be taken.
    func wait() {
        while true {
            let seconds = state.withLock { state -> Double in
                guard state.isLimited else { return 0 }
                let now = MonotonicTime.now
                let allowed = now.seconds(since: state.since) * Self.share
                if allowed > state.spent {
                    // Time that was not taken is not saved up.
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

/// Meter of the processor's time that one thread takes.
struct ThreadMeter {
    private var last = ThreadMeter.now

    /// Nanoseconds since the last call.
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

import CLinux
import Glibc
import NowPlaying

/// A one-shot timer that ends the sleep of a decode thread. Any thread.
final class DecodeAlarm: Sendable {
    /// A timerfd, readable from the instant until it is read; below 0: the system has no more descriptors, and the alarm never expires.
    let descriptor = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC))

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Sets the instant, in place of an earlier one; nil: never.
    func set(_ time: MonotonicTime?) {
        var setting = itimerspec()
        let nanoseconds = time.map { max(1, $0.nanoseconds) } ?? 0
        setting.it_value = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    }
}

import CLinux
import Glibc
package import NowPlaying

/// The wall clock beside CLOCK_MONOTONIC.
package enum WallClock {
    /// Unix time of an instant, in seconds, as the wall clock stands now. Any thread.
    package static func time(of instant: MonotonicTime) -> Double {
        var wall = timespec()
        clock_gettime(CLOCK_REALTIME, &wall)
        return Double(wall.tv_sec) + Double(wall.tv_nsec) / 1e9 + instant.seconds(since: EventLoop.now)
    }

    /// True if the wall clock was ever set: by the network, or from a battery clock. Any thread.
    package static var isSet: Bool {
        // A time before this version was written is wrong.
        guard time(of: EventLoop.now) > firstPossible else { return false }
        #if arch(x86_64)
            // Every PC has a battery clock, and every virtual machine its host's.
            return true
        #else
            return linux_clock_is_disciplined() != 0 || access("/dev/rtc0", F_OK) == 0
                || access("/run/systemd/timesync/synchronized", F_OK) == 0
        #endif
    }

    /// 2025-01-01, in Unix time.
    private static let firstPossible = 1_735_689_600.0
}

/// Watches for steps of the wall clock and for the end of the host's sleep. Costs no wakeup: its timer never expires.
@PlayerLoop package final class WallClockWatch {
    private let descriptor: Int32
    private var source: EventSource?

    /// Calls `handler` after each step of the wall clock. Nil: the kernel does not support it.
    package init?(_ loop: EventLoop, _ handler: @escaping @PlayerLoop () -> Void) {
        descriptor = timerfd_create(CLOCK_REALTIME, Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        arm()
        let descriptor = descriptor
        source = loop.watch(descriptor, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in
            var count: UInt64 = 0
            // timerfd_create(2): a read fails with ECANCELED when the clock was set.
            if read(descriptor, &count, 8) < 0, errno == ECANCELED {
                self.arm()
                handler()
            }
        }
        guard source != nil else { return nil }
    }

    private func arm() {
        var never = itimerspec()
        never.it_value.tv_sec = Int.max / 2_000_000_000
        timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET), &never, nil)
    }

    isolated deinit {
        source = nil
        close(descriptor)
    }
}

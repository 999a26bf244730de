package import CLinux
import Glibc

/// The daemon's clock page in this process: nowplayingd-clock(7). Valid while its connection is open. Any thread.
package final class MappedClock: @unchecked Sendable {
    private let page: UnsafeRawPointer

    /// Maps the page of a descriptor, which may be closed afterwards. Nil, with `errno`: the mapping failed.
    package init?(_ descriptor: Int32) {
        guard let page = linux_clock_page_map(descriptor) else { return nil }
        self.page = page
    }

    /// The present content. Nil: the daemon has been writing for milliseconds; it may be dead.
    package func read() -> nowplayingd_clock? {
        var clock = nowplayingd_clock()
        return nowplayingd_clock_read(page, &clock) == 1 ? clock : nil
    }

    /// Sleeps until the page differs from `clock`, at most this many nanoseconds; it may return early.
    package func sleep(after clock: nowplayingd_clock, _ nanoseconds: Int64) {
        nowplayingd_clock_wait(page, clock.sequence, nanoseconds)
    }

    /// Seconds into the item at an instant in nanoseconds of CLOCK_MONOTONIC.
    package static func position(_ clock: nowplayingd_clock, at instant: Int64) -> Double {
        withUnsafePointer(to: clock) { Double(nowplayingd_clock_position($0, instant)) / 1e9 }
    }

    deinit { linux_clock_page_unmap(page) }
}

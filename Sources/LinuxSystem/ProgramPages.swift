import CLinux
import NowPlaying
import Synchronization

/// The pages of this program's own file in memory.
package enum ProgramPages {
    /// Second of the monotonic clock until which the pages are kept.
    private static let keptUntil = Atomic<Int64>(0)
    /// Seconds for which `keepForAWhile` keeps the pages.
    private static let keptSeconds: Int64 = 5

    private static var second: Int64 { MonotonicTime.now.nanoseconds / 1_000_000_000 }

    /// Releases the resident pages of code and constants, unless `keepForAWhile` keeps them. The next use brings each
    /// page back from the kernel's cache in a microsecond. Most of a program's megabytes are used once, at its start.
    /// Any thread.
    package static func giveBack() {
        if !isKept { linux_give_back_program_pages() }
    }

    /// True while `keepForAWhile` keeps the pages. Any thread.
    static var isKept: Bool { second < keptUntil.load(ordering: .relaxed) }

    /// Waits until an eventfd or a timerfd has a count, and takes it; true: the timer's. A timer below 0 never expires. Releases the
    /// pages first, as `giveBack` does. The thread needs only one of them after that: a release by other code brings back those on
    /// its way to the wait. Blocks.
    package static func giveBack(whileAwaiting event: Int32, or timer: Int32) -> Bool {
        linux_await_count(event, timer, isKept ? 0 : 1) != 0
    }

    /// Keeps the pages for five seconds, for a client that repeats its request: it would wait half a millisecond for
    /// the kernel to bring them back. Any thread.
    package static func keepForAWhile() { keptUntil.store(second + keptSeconds, ordering: .relaxed) }

    /// Ends `keepForAWhile`: other code with other pages runs next. Any thread.
    package static func keepNoLonger() { keptUntil.store(0, ordering: .relaxed) }

    /// Releases the free pages of the heap, also those between used ones, which the allocator would keep. Takes up to a
    /// millisecond. Any thread.
    package static func giveBackHeap() { linux_give_back_heap() }

    /// Makes all threads but the first share one heap. Otherwise each thread gets its own, up to eight for each
    /// processor, and keeps its peak: threads of sessions and pictures fill one after the other. Call it before any
    /// thread starts.
    package static func shareHeap() { linux_limit_heaps(2) }
}

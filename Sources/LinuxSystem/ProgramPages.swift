import CLinux
import NowPlaying
import Synchronization

/// The pages of this program's own file in memory.
package enum ProgramPages {
    /// Second of the monotonic clock up to which they are kept.
    private static let keptUntil = Atomic<Int64>(0)
    /// Seconds for which they are kept.
    private static let keptSeconds: Int64 = 5

    private static var second: Int64 { MonotonicTime.now.nanoseconds / 1_000_000_000 }

    /// Gives back the pages of code and constants that were needed up to now: what is needed again comes back from the
    /// kernel's cache at its next use, a microsecond each. Most of a program's megabytes are used once, when it starts.
    /// Nothing while they are kept. Any thread.
    package static func giveBack() {
        if second >= keptUntil.load(ordering: .relaxed) { linux_give_back_program_pages() }
    }

    /// Keeps them for the next five seconds, for who will ask for the same again: it would wait half a millisecond for the
    /// kernel to bring them back. Any thread.
    package static func keepForAWhile() { keptUntil.store(second + keptSeconds, ordering: .relaxed) }

    /// Releases the pages, as something else runs that needs others. Any thread.
    package static func keepNoLonger() { keptUntil.store(0, ordering: .relaxed) }

    /// Gives back the pages of the heap that nothing is left on: what is freed in between of what stays is kept by the
    /// allocator otherwise. Takes up to a millisecond. Any thread.
    package static func giveBackHeap() { linux_give_back_heap() }

    /// Lets all threads but the first share one heap. Each would get its own, up to eight for each processor, and keep what
    /// it needed at most: threads that come and go with sessions and pictures fill them one after the other. Before any
    /// thread is started.
    package static func shareHeap() { linux_limit_heaps(2) }
}

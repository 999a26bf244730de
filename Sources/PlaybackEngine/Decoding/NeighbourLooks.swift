import AudioCore
import CLinux
import Glibc
import LinuxSystem
import NowPlaying
import Synchronization

/// Reads the tags of the items before and after another one in the queue. Each read has a thread of its own: the
/// neighbours may be on a medium that is slow or hangs. Used on the decode thread alone.
final class NeighbourLooks {
    /// Seconds that sound waits for a read of its neighbours that waits for a disk; a readable disk needs less.
    private static let patience = 0.05
    /// Maximum number of such waits in a row, while the read gets no processor.
    private static let mostWaits = 20
    /// Reads of the whole process that may hang at once. Above it, no neighbour is read.
    private static let limit = 4
    private static let running = Atomic<Int>(0)

    /// One running read.
    private final class Look: Sendable {
        /// Set when the read is abandoned.
        let flag = AbandonFlag()
        /// Number of the thread; 0 until it runs.
        let thread = Atomic<Int32>(0)
        /// Readable after the end of the read.
        let end = eventfd(0, Int32(EFD_CLOEXEC))

        deinit { if end >= 0 { close(end) } }

        /// True while the read computes, or waits for a processor.
        var isRunnable: Bool {
            let number = thread.load(ordering: .relaxed)
            return number == 0 || ThreadNumber.isRunnable(number)
        }

        func finish() {
            var one: UInt64 = 1
            _ = write(end, &one, 8)
        }
    }

    private let thread: DecodeThread
    private var look: Look?
    /// True until sound has waited for the read.
    private var isAwaited = false

    /// The reads of this decode thread.
    init(_ thread: DecodeThread) { self.thread = thread }

    deinit { look?.flag.set() }

    /// Begins to read the neighbours of an item with these tags and this measured loudness, if it belongs to an album that may
    /// determine its gain. Posts `lookedAround` if it found something.
    func begin(_ item: DecodeItem, _ metadata: MediaMetadata, _ measured: MeasuredLoudness, run: Int) {
        // A source with its own process opens late, and no sound waits for it.
        let neighbours = item.neighbours.filter { !$0.source.isRemote }
        guard !neighbours.isEmpty, metadata.albumTitle != nil,
            let loudness = measured.chosen(beside: metadata.loudness), loudness.albumGain != nil,
            loudness.trackGain != nil
        else { return }
        let new = Look()
        guard new.end >= 0, Self.running.add(1, ordering: .relaxed).newValue <= Self.limit else {
            if new.end >= 0 { Self.running.subtract(1, ordering: .relaxed) }
            return
        }
        let isStarted = thread.runBeside { [thread] in
            new.thread.store(ThreadNumber.current, ordering: .relaxed)
            let found = neighbours.compactMap { neighbour -> (id: ItemID, metadata: MediaMetadata)? in
                guard let decoder = try? thread.open(neighbour.source, new.flag), !(decoder is any LateDecoder)
                else { return nil }
                return (neighbour.id, decoder.metadata)
            }
            if !found.isEmpty { thread.post(.lookedAround(ticket: item.ticket, found), run: run) }
            Self.running.subtract(1, ordering: .relaxed)
            new.finish()
        }
        guard isStarted else {
            Self.running.subtract(1, ordering: .relaxed)
            return
        }
        look = new
        isAwaited = true
    }

    /// Waits a moment for the running read, before the first sound of its item: once for each read.
    func wait() {
        guard isAwaited, let look else { return }
        isAwaited = false
        for _ in 0..<Self.mostWaits {
            var polled = pollfd(fd: look.end, events: Int16(POLLIN), revents: 0)
            if poll(&polled, 1, Int32(clamping: Self.patience * 1000)) != 0 || !look.isRunnable { return }
        }
    }

    /// Abandons the running read, as another item plays.
    func giveUp() {
        look?.flag.set()
        look = nil
        isAwaited = false
    }
}

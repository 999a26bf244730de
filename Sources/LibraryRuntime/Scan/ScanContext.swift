import LinuxSystem
import NowPlaying
import Synchronization
import TrackDatabase

/// Parts that the threads of a scan share.
struct ScanContext: Sendable {
    let database: TrackDatabase
    let writer: LibraryWriter
    let roots: [RootNames.Root]
    /// Nil: folders are not watched.
    let watch: FolderWatch?
    let progress: ScanProgress
    let pace: ScanPace
    /// Set to end the scan.
    let abandoned: AbandonFlag
    /// Calls into disks, which may hang.
    let calls = DiskCalls()
    /// Indices of the roots whose disks do not answer: the scan makes no calls into them.
    let silent: Set<Int>
    /// Begin of the work.
    let begin = MonotonicTime.now
    /// Processes that read files.
    let readers: Int
    /// Program that reads files; nil: nowplaying-tags is not installed.
    let program: String?
    /// Path of the daemon's state directory; nil: not known.
    let daemonFolder: String?
    /// The way in which the scan reads tags, see `ReadingMark`.
    let reading: Int64
}

/// A file to read.
struct ReadJob: Sendable {
    let root: ScanRoot
    /// Path of its folder below the root.
    let folder: [UInt8]
    let name: [UInt8]
    /// Number of its track; nil: it is new.
    let known: Int64?
    /// True if the file has a fault.
    let hasFault: Bool

    /// Path below the root.
    var relative: [UInt8] { folder.isEmpty ? name : folder + [UInt8(ascii: "/")] + name }
    /// Place in the library.
    var path: TrackPath { TrackPath(folder: root.place(folder), name: name) }
}

/// A queue between threads, of bounded length.
final class WorkQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let room: Semaphore
    private let filled = Semaphore(0)

    /// An empty queue for `most` elements.
    init(most: Int) { room = Semaphore(most) }

    /// Adds an element when there is room. Blocks.
    func put(_ element: Element) {
        room.wait()
        state.withLock { $0.elements.append(element) }
        filled.post()
    }

    /// The next element; nil: the queue is closed. Blocks.
    func take() -> Element? {
        filled.wait()
        let element = state.withLock { $0.elements.isEmpty ? nil : $0.elements.removeFirst() }
        if element == nil { filled.post() } else { room.post() }
        return element
    }

    /// Closes the queue: threads that wait for elements get nil.
    func close() { filled.post() }
}

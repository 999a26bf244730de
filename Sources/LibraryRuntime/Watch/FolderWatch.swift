import CLinux
import Glibc
package import LinuxSystem
import Synchronization

/// Watches folders for changes of their entries (inotify(7)). Callers number the folders; a watched folder takes four
/// bytes here and about a kibibyte in the kernel. Any thread may call it.
package final class FolderWatch: Sendable {
    /// Result of an attempt to watch a folder.
    package enum Outcome: Equatable, Sendable {
        case watched
        /// The folder is watched; it had another number before.
        case renumbered(from: Int32)
        /// The system has no watches left (`fs.inotify.max_user_watches`).
        case exhausted
        /// The folder can't be watched: it is missing, not a folder, or not readable.
        case refused(SystemError)
    }

    /// Events that a watch reports.
    package enum Purpose {
        /// All changes of the content of a library.
        case changes
        /// New entries. A watched folder keeps its watch.
        case arrivals
    }

    /// Changes since the last call of `take`.
    package struct News: Equatable, Sendable {
        /// Folders with new, changed, moved or removed entries.
        package var folders: Set<Int32> = []
        /// True if the kernel dropped events: any folder may have changed.
        package var isIncomplete = false

        /// News by their parts.
        package init(folders: Set<Int32> = [], isIncomplete: Bool = false) {
            self.folders = folders
            self.isIncomplete = isIncomplete
        }

        /// True if nothing changed.
        package var isEmpty: Bool { folders.isEmpty && !isIncomplete }
    }

    /// Readable while `take` has something to read.
    package let descriptor: Int32
    /// Number of the folder of each watch; the kernel counts watches from 1. 0: none.
    private let folders = Mutex<[Int32]>([])

    private static let kinds =
        UInt32(IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_MOVE_SELF)
        | UInt32(IN_ONLYDIR) | UInt32(IN_EXCL_UNLINK)
    /// With IN_MASK_CREATE.
    private static let arrivals = UInt32(IN_CREATE | IN_MOVED_TO | IN_MOVE_SELF | IN_ONLYDIR) | 0x1000_0000

    /// A watch without folders. Throws if the system refuses an inotify descriptor.
    package init() throws(SystemError) {
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw SystemError("watch folders") }
    }

    deinit { close(descriptor) }

    /// Watches the folder at a path under this positive number, which replaces its earlier one. Blocks as long as the
    /// disk does. Watch a folder before you list it, or changes in between are lost.
    package func watch(_ path: FilePath, as folder: Int32, for purpose: Purpose = .changes) -> Outcome {
        let kinds =
            switch purpose {
            case .changes: Self.kinds
            case .arrivals: Self.arrivals
            }
        // Outside the lock, for which the loop waits. The caller's later listing covers an event between both steps.
        let watch = path.withCString { inotify_add_watch(descriptor, $0, kinds) }
        guard watch >= 0 else {
            if errno == EEXIST { return .watched }
            return errno == ENOSPC ? .exhausted : .refused(SystemError("watch \(path.text)"))
        }
        let before = folders.withLock { folders in
            let index = Int(watch)
            if index >= folders.count {
                folders.append(contentsOf: repeatElement(0, count: index + 1 - folders.count))
            }
            defer { folders[index] = folder }
            return folders[index]
        }
        return before == 0 || before == folder ? .watched : .renumbered(from: before)
    }

    /// Ends all watches.
    package func forgetAll() { forget(below: .max) }

    /// Ends the watches of these folders.
    package func forget(_ gone: Set<Int32>) {
        folders.withLock { folders in
            for (watch, folder) in folders.enumerated() where folder != 0 && gone.contains(folder) {
                inotify_rm_watch(descriptor, Int32(watch))
                folders[watch] = 0
            }
        }
    }

    /// Ends the watches of all folders with lower numbers than this one.
    package func forget(below number: Int32) {
        folders.withLock { folders in
            for (watch, folder) in folders.enumerated() where folder != 0 && folder < number {
                inotify_rm_watch(descriptor, Int32(watch))
                folders[watch] = 0
            }
        }
    }

    /// Number of watched folders.
    package var count: Int { folders.withLock { $0.count { $0 != 0 } } }

    /// Takes all changes that the kernel has queued. Never blocks.
    package func take() -> News {
        var news = News()
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
            while case let count = read(descriptor, buffer.baseAddress, buffer.count), count > 0 {
                folders.withLock { folders in
                    Self.collect(UnsafeRawBufferPointer(rebasing: buffer[..<count]), &folders, &news)
                }
            }
        }
        return news
    }

    private static func collect(_ events: UnsafeRawBufferPointer, _ folders: inout [Int32], _ news: inout News) {
        let header = MemoryLayout<inotify_event>.size
        var offset = 0
        while offset + header <= events.count {
            let event = events.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
            offset += header + Int(event.len)
            if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
                news.isIncomplete = true
                continue
            }
            let index = Int(event.wd)
            guard folders.indices.contains(index), folders[index] != 0 else { continue }
            // The folder itself was removed, or its disk was unmounted.
            news.folders.insert(folders[index])
            if event.mask & UInt32(IN_IGNORED) != 0 { folders[index] = 0 }
        }
    }
}

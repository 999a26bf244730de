import CLinux
import Glibc
package import LinuxSystem

/// Watches for the appearance of a missing file while it lives: its disk's folder may be made, renamed or filled
/// without a mount. It watches the deepest existing folder of the path (inotify(7)), and wakes only on events there.
/// Worker threads do all access to the disk.
@PlayerLoop package final class FileWatch {
    /// A watched folder, and the awaited name in it.
    private struct Watched: Sendable {
        let descriptor: Int32
        let name: [UInt8]
    }

    private enum Look: Sendable {
        case isThere
        case watching(Watched)
        /// The system has no watches left, or no folder of the path is accessible.
        case impossible
    }

    private let loop: EventLoop
    private let workers: Workers
    private let path: FilePath
    private let handler: @PlayerLoop () -> Void
    private var descriptor: Int32 = -1
    private var source: EventSource?

    /// Calls `handler` on the loop, once, when a file appears at the path, absolute and normalized, that was missing
    /// when the watch began. `reportsExisting`: also for a file that exists from the beginning.
    package init(
        _ loop: EventLoop, _ workers: Workers, _ path: FilePath, reportsExisting: Bool,
        _ handler: @escaping @PlayerLoop () -> Void
    ) {
        self.loop = loop
        self.workers = workers
        self.path = path
        self.handler = handler
        look(reportsExisting: reportsExisting)
    }

    isolated deinit { end() }

    private func end() {
        source?.release()
        source = nil
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    private func look(reportsExisting: Bool) {
        end()
        let path = path
        workers.submit {
            Self.look(path)
        } _: { [weak self] found in
            switch found {
            case .impossible: break
            case .isThere: if reportsExisting { self?.handler() }
            case .watching(let watched):
                if let self { watch(watched) } else { close(watched.descriptor) }
            }
        }
    }

    private func watch(_ watched: Watched) {
        descriptor = watched.descriptor
        source = loop.watch(descriptor, EPOLLIN.rawValue) { [unowned self] _ in
            if Self.hasAwaitedEvent(descriptor, watched.name) { look(reportsExisting: true) }
        }
    }

    /// Reads the folder's events; true: one is about the awaited name, or the folder itself.
    private nonisolated static func hasAwaitedEvent(_ descriptor: Int32, _ awaited: [UInt8]) -> Bool {
        var isAwaited = false
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            let header = MemoryLayout<inotify_event>.size
            while case let count = read(descriptor, buffer.baseAddress, buffer.count), count > 0 {
                var offset = 0
                while offset + header <= count {
                    let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    let name = buffer[(offset + header)..<(offset + header + Int(event.len))].prefix { $0 != 0 }
                    isAwaited = isAwaited || event.len == 0 || name.elementsEqual(awaited)
                    offset += header + Int(event.len)
                }
            }
        }
        return isAwaited
    }

    /// Watches the deepest existing folder of the path. On a worker thread.
    private nonisolated static func look(_ path: FilePath) -> Look {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return .impossible }
        // A second look finds files that appeared before the watch. The number of looks is bounded, as a file may come
        // and go.
        for _ in 0..<100 {
            guard let missing = firstMissing(path) else {
                close(descriptor)
                return .isThere
            }
            // A file counts when it was written or moved there as a whole; a folder counts at once.
            let kinds = missing.bytes.count == path.bytes.count ? IN_CLOSE_WRITE | IN_MOVED_TO : IN_CREATE | IN_MOVED_TO
            let watch = missing.folder.withCString {
                inotify_add_watch(descriptor, $0, UInt32(kinds | IN_DELETE_SELF | IN_MOVE_SELF) | UInt32(IN_ONLYDIR))
            }
            guard watch >= 0 else { continue }
            if let again = firstMissing(path), again.bytes == missing.bytes {
                return .watching(Watched(descriptor: descriptor, name: Array(missing.name)))
            }
            inotify_rm_watch(descriptor, watch)
        }
        close(descriptor)
        return .impossible
    }

    /// The shortest part of the path that does not exist; nil: all of it exists.
    private nonisolated static func firstMissing(_ path: FilePath) -> FilePath? {
        var missing: FilePath?
        var part = path
        var status = stat()
        while !part.name.isEmpty, part.withCString({ stat($0, &status) }) != 0 {
            missing = part
            part = part.folder
        }
        return missing
    }
}

/// Watches for the return of a medium: a mount, or the appearance of a missing folder or file.
@PlayerLoop package final class MediaWatch {
    private let mounts: MountWatch?
    private let file: FileWatch?

    /// Calls `handler` on the loop at each such event while it lives. `path`: the missing file; nil: there is none.
    /// `reportsExisting`: the file may have returned since it was missed.
    package init(
        _ loop: EventLoop, _ workers: Workers, _ path: FilePath?, reportsExisting: Bool,
        _ handler: @escaping @PlayerLoop () -> Void
    ) {
        mounts = MountWatch(loop, handler)
        file = path.map { FileWatch(loop, workers, $0.normalized, reportsExisting: reportsExisting, handler) }
    }
}

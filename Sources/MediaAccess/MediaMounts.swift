package import AudioCore
import Glibc
package import LinuxSystem
import NowPlaying
import Synchronization

/// Remembers the file systems of played media over restarts. A missing file on a file system that is not mounted now is
/// away, not gone. For the decode thread; every call may block.
package final class MediaMounts: Sendable {
    private struct Known: Equatable {
        /// Folder whose files are on the file system, by the text of their paths.
        var top: FilePath
        /// Mount point.
        var point: FilePath
        /// Device of the file system at its last use (st_dev); 0: not used since the start.
        var device: UInt64
    }

    private struct State {
        var known: [Known]?
        var roots: MediaRoots
        var missed = MissedFolders()
        /// Number of changed lists so far.
        var lists = 0
    }

    /// Maximum number of file systems; the oldest makes room for a new one.
    private static let limit = 64
    private static let fileLimit = 1 << 20

    private let state: Mutex<State>
    private let path: String
    /// Number of the last saved list.
    private let written = Mutex(0)

    /// Reads the saved file systems of this folder. `roots`: folders that are expected to contain files.
    package init(stateDirectory: String, roots: MediaRoots) {
        path = stateDirectory + "/mounts"
        state = Mutex(State(roots: roots))
    }

    /// Applies the media roots of a reloaded configuration.
    package func setRoots(_ roots: MediaRoots) { state.withLock { $0.roots = roots } }

    /// Records the file system of a file that was opened.
    package func opened(_ file: FilePath) {
        changeMissed { $0.found(file.normalized, at: EventLoop.now) }
        var status = stat()
        guard file.withCString({ stat($0, &status) }) == 0 else { return }
        let device = UInt64(status.st_dev)
        if known().contains(where: { $0.device == device && file.below($0.top) != nil }) { return }
        guard let table = MountTable.read(), let real = file.withCString({ realpath($0, nil) }) else { return }
        defer { free(real) }
        let bytes = UnsafeBufferPointer(start: real, count: strlen(real)).map { UInt8(bitPattern: $0) }
        guard let resolved = FilePath(bytes), let point = table.point(above: resolved), let rest = resolved.below(point)
        else { return }
        // Behind a symbolic link the file system may have another path than its own.
        let length = rest.bytes.count
        var top = file.folder
        if file.bytes.count > length, file.bytes.suffix(length).elementsEqual(rest.bytes) {
            top = FilePath(file.bytes.dropLast(length))?.normalized ?? top
        }
        note(Known(top: top, point: point, device: device))
    }

    /// Error for a missing file that is away: its known file system is not mounted now, or its media root is missing or
    /// empty, or was so until recently. Nil: the file is gone.
    package func absence(of file: FilePath) -> DecodingError? {
        let file = file.normalized
        let away = DecodingError(.notMounted, "its disk or share is not mounted")
        let noted = known().filter { file.below($0.top) != nil && $0.point.bytes != [UInt8(ascii: "/")] }
        if !noted.isEmpty, let table = MountTable.read(),
            let missing = noted.first(where: { !table.points.contains($0.point) })
        {
            // A symbolic link may lead the file's path to the file system, so this folder is not its mount point.
            changeMissed { $0.miss(missing.top) }
            return away
        }
        let roots = state.withLock { $0.roots }
        if let root = roots.confinedPath(of: file)?.root, roots.isUnmounted(root) {
            changeMissed { $0.miss(root) }
            return away
        }
        return changeMissed { $0.absence(of: file, at: EventLoop.now) }
    }

    /// Changes the missed folders outside the lock: it reads disks, which may hang, and other callers must not wait for
    /// them.
    private func changeMissed<Result>(_ change: (inout MissedFolders) -> Result) -> Result {
        var missed = state.withLock { $0.missed }
        let result = change(&missed)
        state.withLock { $0.missed = missed }
        return result
    }

    private func known() -> [Known] {
        state.withLock { state in
            if state.known == nil { state.known = load() }
            return state.known ?? []
        }
    }

    private func note(_ new: Known) {
        let changed: (known: [Known], number: Int)? = state.withLock { state in
            var known = state.known ?? []
            if let index = known.firstIndex(where: { $0.top == new.top && $0.point == new.point }) {
                known[index].device = new.device
                state.known = known
                return nil
            }
            known.append(new)
            if known.count > Self.limit { known.removeFirst() }
            state.known = known
            state.lists += 1
            return (known, state.lists)
        }
        // Saves on another thread: an opened item must play without waiting for another disk.
        if let changed { _ = DetachedThread.start("mounts") { [self] in save(changed.known, changed.number) } }
    }

    // MARK: The file: each folder and its mount point, each terminated by a zero

    private func load() -> [Known] {
        let saved = read(path)
        // A process that was killed while it saved left a list under this name, whole or partial.
        let unfinished = read(path + ".new")
        return unfinished.count > saved.count ? unfinished : saved
    }

    private func read(_ path: String) -> [Known] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: Self.fileLimit)
        bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
        let whole = bytes[..<(bytes.lastIndex(of: 0) ?? 0)]
        let parts = whole.split(separator: 0).compactMap { FilePath($0) }
        return stride(from: 0, to: parts.count - 1, by: 2).suffix(Self.limit).map {
            Known(top: parts[$0], point: parts[$0 + 1], device: 0)
        }
    }

    /// Saves the list. If that fails, the file systems are unknown after the next start, without other harm.
    private func save(_ known: [Known], _ number: Int) {
        written.withLock { last in
            guard number > last else { return }
            last = number
            write(known)
        }
    }

    private func write(_ known: [Known]) {
        var bytes: [UInt8] = []
        for known in known { bytes += known.top.bytes + [0] + known.point.bytes + [0] }
        let new = path + ".new"
        let file = FreshFile.make(new)
        guard file >= 0 else { return }
        let isWritten = Glibc.write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
        close(file)
        if !isWritten || rename(new, path) != 0 { unlink(new) }
    }
}

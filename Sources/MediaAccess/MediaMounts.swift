package import AudioCore
import CLinux
import Glibc
package import LinuxSystem
import NowPlaying
import Synchronization

/// Knows on which file systems media was played, over restarts, and says whether a file that is not there is on one that is
/// not mounted now: then it is away, not gone. For the decode thread; every call may block.
package final class MediaMounts: Sendable {
    private struct Known: Equatable {
        /// The folder by whose text a path is known to be on it.
        var top: FilePath
        /// Mount point.
        var point: FilePath
        /// Device of the file system seen there (st_dev); 0: none since the start.
        var device: UInt64
    }

    private struct State {
        var known: [Known]?
        var roots: MediaRoots
        var missed = MissedFolders()
        /// Lists that were to be written so far.
        var lists = 0
    }

    /// File systems that are remembered; the one that was found first is forgotten for another.
    private static let limit = 64
    private static let fileLimit = 1 << 20

    private let state: Mutex<State>
    private let path: String
    /// Number of the last written list.
    private let written = Mutex(0)

    /// The file systems that were noted in this folder. `roots`: folders that are expected to have something in them.
    package init(stateDirectory: String, roots: MediaRoots) {
        path = stateDirectory + "/mounts"
        state = Mutex(State(roots: roots))
    }

    /// The configuration was read again.
    package func setRoots(_ roots: MediaRoots) { state.withLock { $0.roots = roots } }

    /// A file could be opened: notes what it is on.
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
        // By a symbolic link the file system may have another name than its own.
        let length = rest.bytes.count
        var top = file.folder
        if file.bytes.count > length, file.bytes.suffix(length).elementsEqual(rest.bytes) {
            top = FilePath(file.bytes.dropLast(length))?.normalized ?? top
        }
        note(Known(top: top, point: point, device: device))
    }

    /// Why a file that can't be found is away and not gone: it is on a file system that was there once and is not mounted
    /// now, or below a media root that is missing or empty, or was until lately. Nil: it is gone.
    package func absence(of file: FilePath) -> DecodingError? {
        let file = file.normalized
        let away = DecodingError(.notMounted, "its disk or share is not mounted")
        let noted = known().filter { file.below($0.top) != nil && $0.point.bytes != [UInt8(ascii: "/")] }
        if !noted.isEmpty, let table = MountTable.read(),
            let missing = noted.first(where: { !table.points.contains($0.point) })
        {
            // By the text of the file's path it may lie elsewhere than where it is mounted.
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

    /// It looks at disks, which may hang: not under the lock, where others would wait with it.
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
        // An opened item shall play: it does not wait for another disk.
        if let changed { _ = DetachedThread.start("mounts") { [self] in save(changed.known, changed.number) } }
    }

    // MARK: The file: each folder and its mount point, both ended by a zero

    private func load() -> [Known] {
        let saved = read(path)
        // A process that was killed while the disk took a new list left it under this name, whole or a part of it.
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

    /// Saves the mounts. If that fails, they are unknown after the next start, without other harm.
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
        let file = linux_open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let isWritten = Glibc.write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
        close(file)
        if !isWritten || rename(new, path) != 0 { unlink(new) }
    }
}

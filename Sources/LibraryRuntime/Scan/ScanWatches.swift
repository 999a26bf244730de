import Glibc
import LinuxSystem
import TrackDatabase

/// Watches the folders of a scan, and ends the watches of missing ones. One thread uses it.
final class ScanWatches {
    /// Result of an attempt to watch a folder.
    enum Outcome {
        /// The number of the folder; nil: it is not watched.
        case number(Int32?)
        /// The folder is bound to several places, and watched at another one.
        case elsewhere
    }

    private let context: ScanContext
    private let roots: [ScanRoot?]
    private let memory: ScanMemory
    private let line: DiskCalls.Line
    /// Numbers of the folders above the present one.
    private var parents: [[UInt8]: Int32] = [:]
    /// Numbers of missing folders.
    private var gone: Set<Int32> = []

    private static let exhausted = "the system has no watches left (fs.inotify.max_user_watches)"

    /// Without watches yet.
    init(_ context: ScanContext, _ roots: [ScanRoot?], _ memory: ScanMemory, _ line: DiskCalls.Line) {
        self.context = context
        self.roots = roots
        self.memory = memory
        self.line = line
    }

    /// Watches the folder at a path below a root. `known`: its number if it is watched already. If the system has no
    /// watches left, `walked` of the memory gets the reason.
    func watch(_ root: ScanRoot, _ path: [UInt8], _ known: Int32?) -> Outcome {
        guard let watch = context.watch else { return .number(nil) }
        let above = TrackPath(path)
        let number: Int32
        if let known {
            number = known
        } else if path.isEmpty {
            number = memory.add(root: root.index, parent: nil, name: [])
        } else {
            guard let parent = parents[above.folder] ?? memory.folders.number(root: root.index, relative: above.folder)
            else { return .number(nil) }
            number = memory.add(root: root.index, parent: parent, name: above.name)
        }
        parents[path] = number
        switch line.call(root.index, { watch.watch(root.path(path), as: number) }) {
        case .renumbered(let before) where known == nil && isSame(before, root, path):
            _ = line.call(root.index) { watch.watch(root.path(path), as: before) }
            _ = memory.remove(number)
            parents[path] = nil
            return .elsewhere
        case .watched, .renumbered, .refused: return .number(number)
        case .exhausted:
            memory.noteWalked(root.index, Self.exhausted)
            return .number(nil)
        }
    }

    /// True if a watched folder is still the folder at this path.
    private func isSame(_ number: Int32, _ root: ScanRoot, _ path: [UInt8]) -> Bool {
        guard let place = memory.folders.place(of: number), let other = roots[place.root],
            let here = inode(root, path), let there = inode(other, place.relative)
        else { return false }
        return here == there
    }

    private func inode(_ root: ScanRoot, _ path: [UInt8]) -> [UInt64]? {
        line.call(root.index) {
            let folder = root.open(path, O_RDONLY | O_DIRECTORY)
            guard folder >= 0 else { return nil }
            defer { close(folder) }
            var status = stat()
            return fstat(folder, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : nil
        }
    }

    /// Removes a missing folder and those in it.
    func remove(_ number: Int32) { gone.formUnion(memory.remove(number)) }

    /// Removes the folders of a missing root.
    func remove(root: Int) { gone.formUnion(memory.remove(root: root)) }

    /// Keeps only these names among the child folders.
    func keep(_ names: [[UInt8]], of children: [[UInt8]: Int32]) {
        guard !children.isEmpty else { return }
        let present = Set(names)
        for (name, child) in children where !present.contains(name) { remove(child) }
    }

    /// Ends the watches of the missing folders, and of all with lower numbers than `first`; nil: of no others.
    func end(below first: Int32?) {
        if let first { context.watch?.forget(below: first) }
        context.watch?.forget(gone)
    }
}

import LinuxSystem
import TrackDatabase

/// Watches the folders that a scan looks at, and ends the watches of those that are gone. One thread uses it.
final class ScanWatches {
    private let context: ScanContext
    private let memory: ScanMemory
    private let line: DiskCalls.Line
    /// Numbers of the folders above the one that is looked at.
    private var parents: [[UInt8]: Int32] = [:]
    /// Numbers of folders that are gone.
    private var gone: Set<Int32> = []

    private static let exhausted = "the system has no watches left (fs.inotify.max_user_watches)"

    /// Watches nothing yet.
    init(_ context: ScanContext, _ memory: ScanMemory, _ line: DiskCalls.Line) {
        self.context = context
        self.memory = memory
        self.line = line
    }

    /// Watches the folder at a path below a root, and returns its number. `known`: the number under which it is watched already.
    /// Nil: it can't be watched; if the system has no watches left, `walked` of the memory has the reason from then on.
    func watch(_ root: ScanRoot, _ path: [UInt8], _ known: Int32?) -> Int32? {
        guard let watch = context.watch else { return nil }
        let above = TrackPath(path)
        let number: Int32
        if let known {
            number = known
        } else if path.isEmpty {
            number = memory.folders.add(root: root.index, parent: nil, name: [])
        } else {
            guard let parent = parents[above.folder] ?? memory.folders.number(root: root.index, relative: above.folder)
            else { return nil }
            number = memory.folders.add(root: root.index, parent: parent, name: above.name)
        }
        parents[path] = number
        switch line.call(root.index, { watch.watch(root.path(path), as: number) }) {
        case .watched, .refused: return number
        case .exhausted:
            memory.walked[root.index] = Self.exhausted
            return nil
        }
    }

    /// A folder and those in it are gone.
    func remove(_ number: Int32) { gone.formUnion(memory.folders.remove(number)) }

    /// A root is gone.
    func remove(root: Int) { gone.formUnion(memory.folders.remove(root: root)) }

    /// Of these folders in a folder only those of these names are there.
    func keep(_ names: [[UInt8]], of children: [[UInt8]: Int32]) {
        guard !children.isEmpty else { return }
        let present = Set(names)
        for (name, child) in children where !present.contains(name) { remove(child) }
    }

    /// Ends the watches of the folders that are gone, and of all with lower numbers than `first`; nil: of no others.
    func end(below first: Int32?) {
        if let first { context.watch?.forget(below: first) }
        context.watch?.forget(gone)
    }
}

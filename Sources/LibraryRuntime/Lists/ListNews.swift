import Glibc
import LinuxSystem
import NowPlaying

/// Reports each change of a saved list to subscribers once: changes by requests, and changes by other programs, for
/// which it watches the folder. Without changes it does nothing.
@PlayerLoop final class ListNews {
    private let events: ChangeEvents
    private let store: ListStore
    private let path: FilePath
    private let workers: Workers
    private var watch: FolderWatch?
    private var collector: ChangeCollector?
    /// Versions of the lists that were reported to subscribers; nil: not read yet.
    private var known: [ListName: Int64]?
    /// Number of changes by requests: a read of the folder that began before one of them is outdated.
    private var changes = 0
    private var isLooking = false
    /// True: the folder has changed since the read began.
    private var isStale = false

    /// News of the lists of a store in this folder, which it creates.
    init(_ loop: EventLoop, _ events: ChangeEvents, _ store: ListStore, in path: FilePath) {
        self.events = events
        self.store = store
        self.path = path
        workers = Workers(loop, name: "lists")
        do throws(SystemError) {
            let watch = try FolderWatch()
            self.watch = watch
            collector = ChangeCollector(loop, watch) { [unowned self] _ in look() }
        } catch {
            Log.warning("changes of lists by other programs are not announced: \(error.message)")
        }
        // Before the first client connects, so that a subscriber gets each change.
        if let found = Self.found(path, watch, store) { take(found) }
    }

    /// A request has changed a list. `version` nil: it was deleted.
    func changed(_ name: ListName, version: Int64?) {
        changes += 1
        report(name, version)
    }

    private func report(_ name: ListName, _ version: Int64?) {
        guard known == nil || known?[name] != version else { return }
        known?[name] = version
        events.listChanged(name, version: version)
    }

    /// Compares the folder with the reported versions.
    private func look() {
        guard !isLooking else {
            isStale = true
            return
        }
        isLooking = true
        isStale = false
        let (watch, path, store, begun) = (watch, path, store, changes)
        workers.submit {
            Self.found(path, watch, store)
        } _: { [weak self] found in
            guard let self else { return }
            isLooking = false
            if let found, changes == begun { take(found) } else if found != nil { isStale = true }
            if isStale { look() }
        }
    }

    /// Versions of the lists in the folder, which it creates if it is missing; nil: the folder can't be read. Blocks.
    private nonisolated static func found(
        _ path: FilePath, _ watch: FolderWatch?, _ store: ListStore
    ) -> [ListName: Int64]? {
        if path.withCString({ mkdir($0, 0o700) }) != 0, errno != EEXIST { return nil }
        // The watch begins before the read, so that no change in between is lost.
        _ = watch?.watch(path, as: 1)
        guard let lists = try? store.folder.summaries() else { return nil }
        return Dictionary(lists.map { ($0.name, $0.version) }) { first, _ in first }
    }

    private func take(_ found: [ListName: Int64]) {
        guard let before = known else {
            known = found
            return
        }
        let gone = before.keys.filter { found[$0] == nil }.sorted { $0.text < $1.text }
        for name in gone { report(name, nil) }
        for (name, version) in found.sorted(by: { $0.key.text < $1.key.text }) { report(name, version) }
    }
}

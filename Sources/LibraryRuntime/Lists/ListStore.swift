package import LinuxSystem
import Synchronization

/// The saved lists, with the counts of items in memory. On worker threads.
package final class ListStore: Sendable {
    /// The files.
    package let folder: ListFolder
    /// Items of the lists that were read last.
    let recent = RecentLists()
    /// Numbers of items, by names and versions.
    private let counts = Mutex<[ListName: (version: Int64, count: Int?)]>([:])

    /// Lists in this folder, which need not exist yet.
    package init(_ folder: FilePath) { self.folder = ListFolder(folder) }

    /// The list of this name. Throws the errors of `ListFolder.list`.
    func list(_ name: ListName) throws(ListFailure) -> SavedList {
        let recent = recent
        func key(_ version: Int64) -> RecentLists.Key { RecentLists.Key(name: name.text, version: version) }
        let list = try folder.list(name) { recent.items(key($0)) }
        if case .items(let items) = list.contents { recent.keep(items, key(list.version)) }
        return list
    }

    /// A list without its contents.
    struct Entry {
        let summary: ListSummary
        /// Number of items; nil: it is a saved filter, or unreadable.
        let count: Int?
    }

    /// All lists in the order of their names.
    func entries() throws(ListFailure) -> [Entry] {
        let summaries = try folder.summaries()
        let known = counts.withLock { $0 }
        let entries = summaries.map { summary in
            if let known = known[summary.name], known.version == summary.version {
                return Entry(summary: summary, count: known.count)
            }
            return Entry(summary: summary, count: (try? folder.count(summary.name)) ?? nil)
        }
        counts.withLock { counts in
            counts = [:]
            for entry in entries { counts[entry.summary.name] = (entry.summary.version, entry.count) }
        }
        return entries
    }
}

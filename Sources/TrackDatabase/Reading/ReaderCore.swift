import CLinux
import Glibc

/// The open database of a reader, its cache, and its visible folders. Used by one thread at a time.
final class ReaderCore {
    let database: SQLiteDatabase
    let cache = ReaderCache()
    /// Seconds after which a query ends with `tooSlow`.
    private let timeLimit: Double
    /// Visible folders, each with all below it; nil: all.
    private(set) var shown: [[UInt8]]?

    /// An open database; `timeLimit` in seconds.
    init(_ database: SQLiteDatabase, timeLimit: Double) {
        self.database = database
        self.timeLimit = timeLimit
    }

    /// Makes only tracks, texts, folders and faults in or below these folders visible, from the next query on; nil:
    /// all. Paths as in `TrackPath.folder`.
    func show(_ folders: [[UInt8]]?) {
        if folders != shown { cache.removeQuestions() }
        shown = folders
    }

    /// Counts of the whole library.
    func totals() throws(TrackDatabaseError) -> TrackReader.Summary { try TrackReader.summary(database) }

    /// Runs a query in one transaction, so that all of its parts see the same state, and within the time limit.
    func question<Result>(
        _ reason: String, _ body: () throws(TrackDatabaseError) -> Result
    ) throws(TrackDatabaseError) -> Result {
        try database.execute("BEGIN")
        defer { try? database.execute("COMMIT") }
        cache.follow(try database.number("SELECT number FROM meta WHERE name = 'removed'") ?? 0)
        return try limited(reason, body)
    }

    /// Runs a part of a longer transaction within the time limit.
    func limited<Result>(
        _ reason: String, _ body: () throws(TrackDatabaseError) -> Result
    ) throws(TrackDatabaseError) -> Result {
        try database.limited(seconds: timeLimit, reason: reason, body)
    }

    /// Releases the memory of caches.
    func rest() {
        cache.removeAll()
        database.releaseMemory()
        linux_give_back_heap()
    }

    // MARK: Visible folders

    /// The visible folders; nil: all. Within a query.
    func visible() throws(TrackDatabaseError) -> VisibleFolders? {
        guard let roots = shown else { return nil }
        let last = try database.number("SELECT max(id) FROM folder") ?? 0
        if let known = cache.visible, known.last == last { return known.folders }
        let found = try visible(roots, last: last)
        cache.keep(visible: found, last: last)
        return found
    }

    private func visible(_ roots: [[UInt8]], last: Int64) throws(TrackDatabaseError) -> VisibleFolders? {
        if try showsAll(roots) { return nil }
        let lookup = FolderLookup(database: database)
        var ids: Set<Int64> = []
        for root in roots { ids.formUnion(try lookup.below(root)) }
        var known = KnownFolders(ids.sorted(), last: last)
        let compiler = FilterCompiler(database: database, cache: nil, total: Double(try totals().tracks), now: 0)
        return VisibleFolders(roots: roots, ids: known.set, filter: try compiler.folders(&known))
    }

    /// True if no track is outside the roots: the library has no folders outside the media roots.
    private func showsAll(_ roots: [[UInt8]]) throws(TrackDatabaseError) -> Bool {
        if roots.contains([]) { return true }
        if try database.number("SELECT 1 FROM track WHERE folder = 1 LIMIT 1") != nil { return false }
        var children = FolderChildren(database, in: [])
        while let child = try children.next() {
            if !VisibleFolders.shows(child.path, roots) { return false }
        }
        return true
    }

    /// The condition of a filter, restricted to the visible folders; nil: all tracks.
    func compiled(_ filter: TrackFilter?) throws(TrackDatabaseError) -> CompiledFilter? {
        var parts: [CompiledFilter] = []
        if let own = try compiledAlone(filter) { parts.append(own) }
        if let visible = try visible() { parts.append(visible.filter) }
        return parts.count > 1 ? CompiledFilter.all(parts) : parts.first
    }

    /// The condition of a filter, without the restriction to visible folders; nil: all tracks.
    func compiledAlone(_ filter: TrackFilter?) throws(TrackDatabaseError) -> CompiledFilter? {
        guard let filter else { return nil }
        let total = Double(try totals().tracks)
        return try FilterCompiler(database: database, cache: cache, total: total, now: Int64(time(nil))).compile(filter)
    }

    /// True if the folder with this number is visible.
    func shows(folder id: Int64) throws(TrackDatabaseError) -> Bool { try visible()?.ids.contains(id) ?? true }
}

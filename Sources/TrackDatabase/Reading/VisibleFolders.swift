import Glibc

/// Folders that a reader shows, where it does not show all.
struct VisibleFolders {
    /// Their paths: each of these and all below it.
    let roots: [[UInt8]]
    /// Numbers of the folders.
    let ids: IdSet
    /// The condition that a track lies in one of them.
    let filter: CompiledFilter

    /// True: the folder is one of `roots` or lies below one.
    static func shows(_ folder: [UInt8], _ roots: [[UInt8]]?) -> Bool {
        guard let roots else { return true }
        return roots.contains { $0.isEmpty || folder == $0 || isBelow(folder, $0) }
    }

    /// True: one of the roots lies below the folder.
    func isAbove(_ folder: [UInt8]) -> Bool {
        roots.contains { !$0.isEmpty && (folder.isEmpty || Self.isBelow($0, folder)) }
    }

    private static func isBelow(_ folder: [UInt8], _ root: [UInt8]) -> Bool {
        folder.count > root.count && folder[root.count] == UInt8(ascii: "/") && folder.starts(with: root)
    }
}

extension TrackReader {
    /// The folders that are shown; nil: all of them. Within a question.
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

    /// True: no track lies outside of the roots, as where the library has no other folders than media roots.
    private func showsAll(_ roots: [[UInt8]]) throws(TrackDatabaseError) -> Bool {
        if roots.contains([]) { return true }
        if try database.number("SELECT 1 FROM track WHERE folder = 1 LIMIT 1") != nil { return false }
        var children = FolderChildren(database, in: [])
        while let child = try children.next() {
            if !VisibleFolders.shows(child.path, roots) { return false }
        }
        return true
    }

    /// The condition of a filter, without what is not shown; nil: all tracks.
    func compiled(_ filter: TrackFilter?) throws(TrackDatabaseError) -> CompiledFilter? {
        var parts: [CompiledFilter] = []
        if let own = try compiledAlone(filter) { parts.append(own) }
        if let visible = try visible() { parts.append(visible.filter) }
        return parts.count > 1 ? CompiledFilter.all(parts) : parts.first
    }

    /// The condition of a filter, whatever is shown; nil: all tracks.
    func compiledAlone(_ filter: TrackFilter?) throws(TrackDatabaseError) -> CompiledFilter? {
        guard let filter else { return nil }
        let total = Double(try totals().tracks)
        return try FilterCompiler(database: database, cache: cache, total: total, now: Int64(time(nil))).compile(filter)
    }

    /// True: the folder with this number is shown.
    func shows(folder id: Int64) throws(TrackDatabaseError) -> Bool { try visible()?.ids.contains(id) ?? true }
}

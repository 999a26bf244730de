/// Playlists below the folders of the library.
extension TrackBatch {
    /// Keeps the playlists of one folder, in place of those that it had.
    package func setLists(_ lists: [ListFile], in folder: [UInt8]) throws(TrackDatabaseError) {
        let statement = try database.statement("SELECT name, size, modified FROM listfile WHERE folder = ?1")
        try statement.bind([.blob(folder)])
        var known: Set<ListFile> = []
        while try statement.step() {
            known.insert(
                ListFile(
                    path: TrackPath(folder: folder, name: statement.blob(0)), size: statement.integer(1),
                    modified: statement.integer(2)))
        }
        statement.reset()
        guard Set(lists) != known else { return }
        try database.run("DELETE FROM listfile WHERE folder = ?1", .blob(folder))
        for list in lists {
            try database.run(
                "INSERT OR REPLACE INTO listfile VALUES(?1, ?2, ?3, ?4)", .blob(folder), .blob(list.path.name),
                .integer(list.size), .integer(list.modified))
        }
        noteChange()
    }

    /// Forgets the playlists of a folder and of those below it, but for those folders that `keeps` names.
    package func forgetLists(
        below folder: [UInt8], except keeps: (_ folder: [UInt8]) -> Bool = { _ in false }
    ) throws(TrackDatabaseError) {
        let statement = try database.statement("SELECT DISTINCT folder FROM listfile")
        var gone: [[UInt8]] = []
        while try statement.step() {
            let path = statement.blob(0)
            let isBelow =
                folder.isEmpty || path == folder
                || path.count > folder.count && path.starts(with: folder) && path[folder.count] == UInt8(ascii: "/")
            if isBelow, !keeps(path) { gone.append(path) }
        }
        statement.reset()
        for path in gone { try database.run("DELETE FROM listfile WHERE folder = ?1", .blob(path)) }
        if !gone.isEmpty { noteChange() }
    }
}

extension TrackReader {
    /// Playlists below the folders of the library in the order of their places, those that are shown; at most so many.
    package func lists(limit: Int) throws(TrackDatabaseError) -> [ListFile] {
        try question("very many playlists") { () throws(TrackDatabaseError) in
            let statement = try database.statement("SELECT folder, name, size, modified FROM listfile")
            defer { statement.reset() }
            var found: [ListFile] = []
            while found.count < limit, try statement.step() {
                let folder = statement.blob(0)
                guard VisibleFolders.shows(folder, shown) else { continue }
                found.append(
                    ListFile(
                        path: TrackPath(folder: folder, name: statement.blob(1)), size: statement.integer(2),
                        modified: statement.integer(3)))
            }
            return found
        }
    }

    /// The playlist at a place; nil: there is none, or it is not shown.
    package func list(at path: TrackPath) throws(TrackDatabaseError) -> ListFile? {
        guard VisibleFolders.shows(path.folder, shown) else { return nil }
        return try question("a playlist was looked for") { () throws(TrackDatabaseError) in
            let statement = try database.statement(
                "SELECT size, modified FROM listfile WHERE folder = ?1 AND name = ?2")
            defer { statement.reset() }
            guard try statement.bind([.blob(path.folder), .blob(path.name)]).step() else { return nil }
            return ListFile(path: path, size: statement.integer(0), modified: statement.integer(1))
        }
    }
}

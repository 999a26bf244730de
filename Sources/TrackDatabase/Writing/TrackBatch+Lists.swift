/// Playlists below the folders of the library.
extension TrackBatch {
    /// Stores the playlists of one folder in place of the earlier ones.
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

    /// Removes the playlists of a folder and of those below it, except for folders that `keeps` returns true for.
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

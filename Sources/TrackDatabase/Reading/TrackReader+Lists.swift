/// Playlists below the folders of the library, for lists and for scans.
extension TrackReader {
    /// Visible playlists below the folders of the library in the order of their places, at most `limit`.
    package func lists(limit: Int) throws(TrackDatabaseError) -> [ListFile] {
        try core.question("very many playlists") { () throws(TrackDatabaseError) in
            let statement = try core.database.statement("SELECT folder, name, size, modified FROM listfile")
            defer { statement.reset() }
            var found: [ListFile] = []
            while found.count < limit, try statement.step() {
                let folder = statement.blob(0)
                guard VisibleFolders.shows(folder, core.shown) else { continue }
                found.append(
                    ListFile(
                        path: TrackPath(folder: folder, name: statement.blob(1)), size: statement.integer(2),
                        modified: statement.integer(3)))
            }
            return found
        }
    }

    /// The playlist at a place; nil: there is none, or it is not visible.
    package func list(at path: TrackPath) throws(TrackDatabaseError) -> ListFile? {
        guard VisibleFolders.shows(path.folder, core.shown) else { return nil }
        return try core.question("a playlist was looked for") { () throws(TrackDatabaseError) in
            let statement = try core.database.statement(
                "SELECT size, modified FROM listfile WHERE folder = ?1 AND name = ?2")
            defer { statement.reset() }
            guard try statement.bind([.blob(path.folder), .blob(path.name)]).step() else { return nil }
            return ListFile(path: path, size: statement.integer(0), modified: statement.integer(1))
        }
    }

    /// The playlists in one folder.
    package func lists(in folder: [UInt8]) throws(TrackDatabaseError) -> [ListFile] {
        let statement = try core.database.statement("SELECT name, size, modified FROM listfile WHERE folder = ?1")
        defer { statement.reset() }
        try statement.bind([.blob(folder)])
        var found: [ListFile] = []
        while try statement.step() {
            found.append(
                ListFile(
                    path: TrackPath(folder: folder, name: statement.blob(0)), size: statement.integer(1),
                    modified: statement.integer(2)))
        }
        return found
    }

    /// True if the library has a playlist in any folder.
    package func hasLists() throws(TrackDatabaseError) -> Bool {
        try core.database.number("SELECT 1 FROM listfile LIMIT 1") != nil
    }
}

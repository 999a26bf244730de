/// Queries of scans about all files, independent of the visible folders. Used by the thread that uses the reader.
package struct ScanReader {
    private let core: ReaderCore

    /// A reader of this database.
    init(_ core: ReaderCore) { self.core = core }

    /// A file in the database, for a scan that searches for changes.
    package struct KnownFile: Equatable, Sendable {
        /// Number of its track.
        package var track: Int64
        package var file: TrackFile
        package var isMissing: Bool
    }

    /// The files of one folder by name, even missing ones; empty if there is no such folder.
    package func files(in folder: [UInt8]) throws(TrackDatabaseError) -> [[UInt8]: KnownFile] {
        let statement = try core.database.statement(
            """
            SELECT t.name, t.id, t.size, t.modified, t.inode, t.flags FROM folder f
            CROSS JOIN track t ON t.folder = f.id WHERE f.path = ?1
            """)
        defer { statement.reset() }
        try statement.bind([.blob(folder)])
        var files: [[UInt8]: KnownFile] = [:]
        while try statement.step() {
            files[statement.blob(0)] = KnownFile(
                track: statement.integer(1),
                file: TrackFile(
                    size: statement.integer(2), modified: statement.integer(3), inode: statement.integer(4)),
                isMissing: statement.integer(5) & TrackFlags.missing != 0)
        }
        return files
    }

    /// A page of the files of one folder in the order of their bytes, even missing ones, after a name.
    package func files(
        in folder: [UInt8], after name: [UInt8], limit: Int
    ) throws(TrackDatabaseError) -> [(name: [UInt8], file: KnownFile)] {
        let statement = try core.database.statement(
            """
            SELECT t.name, t.id, t.size, t.modified, t.inode, t.flags FROM folder f
            CROSS JOIN track t ON t.folder = f.id AND t.name > ?2 WHERE f.path = ?1 ORDER BY t.name LIMIT ?3
            """)
        defer { statement.reset() }
        try statement.bind([.blob(folder), .blob(name), .integer(Int64(limit))])
        var files: [(name: [UInt8], file: KnownFile)] = []
        while try statement.step() {
            files.append(
                (
                    statement.blob(0),
                    KnownFile(
                        track: statement.integer(1),
                        file: TrackFile(
                            size: statement.integer(2), modified: statement.integer(3), inode: statement.integer(4)),
                        isMissing: statement.integer(5) & TrackFlags.missing != 0)
                ))
        }
        return files
    }

    /// Names of the folders in a folder, in the order of their bytes.
    package func folders(in folder: [UInt8]) throws(TrackDatabaseError) -> [[UInt8]] {
        var children = FolderChildren(core.database, in: folder)
        var names: [[UInt8]] = []
        while let child = try children.next() { names.append(child.name) }
        return names
    }

    /// Numbers of present tracks in a folder and below it, at most `limit`, after a number.
    package func presentTracks(
        below folder: [UInt8], after id: Int64, limit: Int
    ) throws(TrackDatabaseError) -> [Int64] {
        // Paths below a path begin with it and a slash; a zero follows the slash.
        try numbers(
            """
            SELECT t.id FROM folder d CROSS JOIN track t ON t.folder = d.id AND (t.flags & \(TrackFlags.missing)) = 0
            WHERE (d.path = ?1 OR d.path > CAST(?1 || x'2F' AS BLOB) AND d.path < CAST(?1 || x'30' AS BLOB))
            AND t.id > ?2 ORDER BY t.id LIMIT ?3
            """, [.blob(folder), .integer(id), .integer(Int64(limit))])
    }

    /// Numbers of missing tracks whose files had this size in bytes, the oldest `limit` of them.
    package func missingTracks(size: Int64, limit: Int) throws(TrackDatabaseError) -> [Int64] {
        try numbers(
            "SELECT id FROM track WHERE (flags & \(TrackFlags.missing)) != 0 AND size = ?1 ORDER BY id "
                + "LIMIT ?2", [.integer(size), .integer(Int64(limit))])
    }

    /// Numbers and files of all missing tracks whose files had this size in bytes, in ascending order.
    package func missingFiles(size: Int64) throws(TrackDatabaseError) -> [(id: Int64, file: TrackFile)] {
        let statement = try core.database.statement(
            """
            SELECT id, modified, inode FROM track WHERE (flags & \(TrackFlags.missing)) != 0 AND size = ?1 ORDER BY id
            """)
        defer { statement.reset() }
        try statement.bind([.integer(size)])
        var found: [(id: Int64, file: TrackFile)] = []
        while try statement.step() {
            let file = TrackFile(size: size, modified: statement.integer(1), inode: statement.integer(2))
            found.append((statement.integer(0), file))
        }
        return found
    }

    /// Numbers of present tracks without a hash of their sound, in ascending order after a number.
    package func unidentifiedTracks(after id: Int64, limit: Int) throws(TrackDatabaseError) -> [Int64] {
        try numbers(
            """
            SELECT id FROM track WHERE identity IS NULL AND (flags & \(TrackFlags.missing)) = 0 AND id > ?1
            ORDER BY id LIMIT ?2
            """, [.integer(id), .integer(Int64(limit))])
    }

    /// Present tracks with greater numbers than this, with the sizes of their files in bytes.
    package func presentTracks(
        after id: Int64, limit: Int
    ) throws(TrackDatabaseError) -> [(size: Int64, id: Int64)] {
        let statement = try core.database.statement(
            "SELECT size, id FROM track WHERE id > ?1 AND (flags & \(TrackFlags.missing)) = 0 ORDER BY id LIMIT ?2")
        defer { statement.reset() }
        try statement.bind([.integer(id), .integer(Int64(limit))])
        var found: [(size: Int64, id: Int64)] = []
        while try statement.step() { found.append((statement.integer(0), statement.integer(1))) }
        return found
    }

    /// Number of present tracks without a hash of their sound.
    package func unidentifiedCount() throws(TrackDatabaseError) -> Int64 {
        try core.database.number(
            "SELECT count(*) FROM track WHERE identity IS NULL AND (flags & \(TrackFlags.missing)) = 0") ?? 0
    }

    /// True if there are no tracks, not even missing ones.
    package func isEmpty() throws(TrackDatabaseError) -> Bool {
        try core.database.number("SELECT 1 FROM track LIMIT 1") == nil
    }

    /// The place of a track; nil: no track has this number.
    package func path(of id: Int64) throws(TrackDatabaseError) -> TrackPath? {
        let statement = try core.database.statement("SELECT folder, name FROM track WHERE id = ?1")
        defer { statement.reset() }
        guard try statement.bind([.integer(id)]).step() else { return nil }
        return TrackPath(folder: try RecordReader(core).folder(statement.integer(0)), name: statement.blob(1))
    }

    private func numbers(_ query: String, _ values: [SQLiteValue]) throws(TrackDatabaseError) -> [Int64] {
        let statement = try core.database.statement(query)
        defer { statement.reset() }
        try statement.bind(values)
        var found: [Int64] = []
        while try statement.step() { found.append(statement.integer(0)) }
        return found
    }
}

import CLinux

/// Writes tracks in batches, each completely or not at all. Used by one thread at a time; a database has one writer.
package final class TrackWriter: @unchecked Sendable {
    // @unchecked: its owner uses it on one thread at a time.

    private let database: SQLiteDatabase
    private let cache = WriterCache()
    /// Number of batches that changed something; clients compare it.
    package private(set) var version: Int64

    /// Longest text of a value in bytes; longer ones are cut.
    static let longestText = 4096

    /// A writer of an open database.
    init(_ database: SQLiteDatabase) throws(TrackDatabaseError) {
        self.database = database
        version = try database.number("SELECT number FROM meta WHERE name = 'version'") ?? 0
    }

    /// Runs `body`, which calls the functions of a batch, as one transaction; about 1,000 tracks are a good size.
    package func batch<Result>(
        _ body: (TrackBatch) throws(TrackDatabaseError) -> Result
    ) throws(TrackDatabaseError) -> Result {
        try database.execute("BEGIN IMMEDIATE")
        do throws(TrackDatabaseError) {
            let batch = TrackBatch(database, cache)
            let result = try body(batch)
            let isChanged = try batch.finish()
            if isChanged { try database.run("UPDATE meta SET number = number + 1 WHERE name = 'version'") }
            try database.execute("COMMIT")
            if isChanged { version += 1 }
            return result
        } catch {
            // The rollback may undo rows in the caches.
            cache.removeAll()
            try? database.execute("ROLLBACK")
            throw error
        }
    }

    /// Merges parts of the search indices, which makes searches faster after many changes: about a second of work, for
    /// idle time. False: no work is left.
    package func tidy() throws(TrackDatabaseError) -> Bool {
        var isChanged = false
        for table in ["word", "part"] {
            let before = try database.number("SELECT total_changes()") ?? 0
            try database.execute("INSERT INTO \(table)(\(table), rank) VALUES('merge', 500)")
            let after = try database.number("SELECT total_changes()") ?? 0
            isChanged = isChanged || after - before >= 2
        }
        return isChanged
    }

    /// Rows that the statistics read for each index.
    private static let looks = 1000
    /// New tracks before an optimization, at least.
    private static let leastNews: Int64 = 1000
    private static let mark = "optimized"

    /// Updates the statistics of the query planner. Takes a tenth of a second for a million tracks.
    package func analyze() throws(TrackDatabaseError) {
        try database.execute("PRAGMA analysis_limit = \(Self.looks); ANALYZE; \(TrackSchema.forgetsSets)")
    }

    /// Runs `optimize` after a first scan and whenever half as many tracks were added since. `isWanted` is called all
    /// the while: false ends the work, which restarts next time.
    package func optimizeIfLarge(_ isWanted: @escaping @Sendable () -> Bool) throws(TrackDatabaseError) {
        // Numbers of tracks are never reused.
        let made = try database.number("SELECT seq FROM sqlite_sequence WHERE name = 'track'") ?? 0
        let mark = try database.number("SELECT number FROM mark WHERE name = ?1", .text(Self.mark)) ?? 0
        guard made - mark >= max(Self.leastNews, mark / 2), isWanted() else { return }
        do throws(TrackDatabaseError) {
            try database.whileWanted(isWanted) { () throws(TrackDatabaseError) in try optimize() }
        } catch {
            try? database.execute("PRAGMA temp_store = MEMORY")
            if !isWanted() { return }
            // Without space for a copy, the file keeps its size; searches need only the rest of the work.
            guard error == .full else { throw error }
        }
        try database.run("INSERT OR REPLACE INTO mark VALUES(?1, ?2)", .text(Self.mark), .integer(made))
    }

    /// Merges the log into the database and the indices into few parts, and shrinks the file to its least size, after a
    /// first scan. Takes seconds for a million tracks, and temporary disk space of the size of the database. Readers
    /// continue.
    package func optimize() throws(TrackDatabaseError) {
        try analyze()
        for table in ["word", "part"] {
            try database.execute("INSERT INTO \(table)(\(table)) VALUES('optimize')")
        }
        // The copy would not fit in memory.
        try database.execute("PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY")
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Releases the memory of caches.
    package func rest() {
        cache.removeAll()
        database.releaseMemory()
        linux_give_back_heap()
    }
}

import CLinux

/// Answers questions about the library. Used by one thread at a time; it never waits for a writer, and each answer is of one
/// moment.
package final class TrackReader: @unchecked Sendable {
    // @unchecked: its owner uses it on one thread at a time.

    let database: SQLiteDatabase
    let cache = ReaderCache()
    /// Seconds after which a question is ended with `tooSlow`.
    package let timeLimit: Double
    /// Combinations of values that one question counts, at most: they lie in memory until the list is whole.
    let mostCombinations: Int
    /// Folders that it shows, each with all below it; nil: all.
    package private(set) var shown: [[UInt8]]?

    /// A reader of an open database; `timeLimit` in seconds.
    init(_ database: SQLiteDatabase, timeLimit: Double, mostCombinations: Int) {
        self.database = database
        self.mostCombinations = mostCombinations
        self.timeLimit = timeLimit
    }

    /// Portions of 5000 steps that SQLite has taken for all questions so far.
    package var portions: Int { database.portions }

    /// Counts of the whole library.
    package struct Summary: Equatable, Sendable {
        /// Grows with each batch of changes.
        package var version: Int64
        /// Differs in each database, so that cursors and versions of another are not taken for its own.
        package var instance: Int64
        /// Tracks whose files are there.
        package var tracks: Int64
        /// Seconds of these.
        package var duration: Double
    }

    /// Shows only tracks, texts, folders and faults that lie in these folders or below them, from the next question on; nil:
    /// all. Paths as in `TrackPath.folder`.
    package func show(_ folders: [[UInt8]]?) {
        if folders != shown { cache.removeQuestions() }
        shown = folders
    }

    /// Counts of the library, of what is shown of it.
    package func summary() throws(TrackDatabaseError) -> Summary {
        var summary = try totals()
        guard shown != nil else { return summary }
        if let known = cache.summary, known.version == summary.version { return known }
        let count = try count(nil)
        summary.tracks = count.tracks
        summary.duration = count.duration
        cache.keep(summary)
        return summary
    }

    /// Counts of the whole library.
    func totals() throws(TrackDatabaseError) -> Summary { try Self.summary(database) }

    /// Counts of a whole library, whose tables may be of an earlier version.
    static func summary(_ database: SQLiteDatabase) throws(TrackDatabaseError) -> Summary {
        let statement = try database.statement("SELECT name, number FROM meta")
        defer { statement.reset() }
        var numbers: [String: Int64] = [:]
        while try statement.step() { numbers[statement.text(0)] = statement.integer(1) }
        return Summary(
            version: numbers["version"] ?? 0, instance: numbers["instance"] ?? 0, tracks: numbers["tracks"] ?? 0,
            duration: Double(numbers["duration"] ?? 0) / 1000)
    }

    /// Carries out a question: in one transaction, so that all of its parts see the same moment, and within the time limit.
    func question<Result>(
        _ reason: String, _ body: () throws(TrackDatabaseError) -> Result
    ) throws(TrackDatabaseError) -> Result {
        try database.execute("BEGIN")
        defer { try? database.execute("COMMIT") }
        cache.follow(try database.number("SELECT number FROM meta WHERE name = 'removed'") ?? 0)
        return try database.limited(seconds: timeLimit, reason: reason, body)
    }

    /// Gives memory back that only saves reading.
    package func rest() {
        cache.removeAll()
        database.releaseMemory()
        linux_give_back_heap()
    }
}

extension TrackReader {
    /// Counts of the whole library.
    package struct Summary: Equatable, Sendable {
        /// Grows with each batch of changes.
        package var version: Int64
        /// Differs in each database, so that cursors and versions of another one are not accepted.
        package var instance: Int64
        /// Tracks whose files are present.
        package var tracks: Int64
        /// Duration of these tracks in seconds.
        package var duration: Double
    }

    /// Counts of the visible part of the library.
    package func summary() throws(TrackDatabaseError) -> Summary {
        var summary = try core.totals()
        guard core.shown != nil else { return summary }
        if let known = core.cache.summary, known.version == summary.version { return known }
        let count = try count(nil)
        summary.tracks = count.tracks
        summary.duration = count.duration
        core.cache.keep(summary)
        return summary
    }

    /// Counts of a whole library. Its tables may be of an earlier version.
    static func summary(_ database: SQLiteDatabase) throws(TrackDatabaseError) -> Summary {
        let statement = try database.statement("SELECT name, number FROM meta")
        defer { statement.reset() }
        var numbers: [String: Int64] = [:]
        while try statement.step() { numbers[statement.text(0)] = statement.integer(1) }
        return Summary(
            version: numbers["version"] ?? 0, instance: numbers["instance"] ?? 0, tracks: numbers["tracks"] ?? 0,
            duration: Double(numbers["duration"] ?? 0) / 1000)
    }
}

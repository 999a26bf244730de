/// Tracks, and their length together.
package struct TrackCount: Equatable, Sendable {
    /// Number of the tracks.
    package var tracks: Int64
    /// Seconds.
    package var duration: Double
}

extension TrackReader {
    /// Counts the tracks that pass a filter and whose files are there; nil: all.
    package func count(_ filter: TrackFilter?) throws(TrackDatabaseError) -> TrackCount {
        try question("very many tracks were counted") { () throws(TrackDatabaseError) in try counted(filter) }
    }

    /// The same within a question.
    func counted(_ filter: TrackFilter?) throws(TrackDatabaseError) -> TrackCount {
        guard let compiled = try compiled(filter) else {
            let totals = try totals()
            return TrackCount(tracks: totals.tracks, duration: totals.duration)
        }
        let source = CountedRows(filter: compiled, bySets: !compiled.asksTracks)
        let columns = source.bySets ? "sum(s.tracks), sum(s.duration)" : "count(*), sum(t.duration)"
        let statement = try database.statement(QueryStatement.numbered("SELECT \(columns) \(source.sql)"))
        defer { statement.reset() }
        try statement.bind(source.values)
        guard try statement.step() else { return TrackCount(tracks: 0, duration: 0) }
        return TrackCount(tracks: statement.integer(0), duration: Double(statement.integer(1)) / 1000)
    }
}

/// Tables and conditions of the rows that are counted: sets of tags where only they are asked about, else tracks.
struct CountedRows {
    /// From `FROM` on, with `@` for each of `values`.
    let sql: String
    let values: [SQLiteValue]
    /// True: `s.tracks` and `s.duration` count them; false: each row is one `t`.
    let bySets: Bool

    /// The rows that pass a filter.
    init(filter: CompiledFilter, bySets: Bool) {
        self.bySets = bySets
        guard bySets else {
            let phase = QueryPlan.sorted([], by: filter.driver).phases[0]
            sql = """
                FROM \(phase.tables) WHERE \(phase.condition)
                AND (t.flags & \(TrackFlags.missing)) = 0 AND (\(filter.sql))
                """
            values = phase.values + filter.values
            return
        }
        switch filter.driver {
        case .values(let ids)?:
            sql = """
                FROM (SELECT DISTINCT tagset AS id FROM tagset_value
                WHERE value IN (SELECT value FROM json_each(@))) d CROSS JOIN tagset s
                WHERE s.id = d.id AND s.tracks > 0 AND (\(filter.sql))
                """
            values = [QueryPlan.json(ids)] + filter.values
        case .album(let id)?:
            sql = "FROM tagset s WHERE s.album = @ AND s.tracks > 0 AND (\(filter.sql))"
            values = [.integer(id)] + filter.values
        case .own?, .folders?, nil:
            sql = "FROM tagset s WHERE s.tracks > 0 AND (\(filter.sql))"
            values = filter.values
        }
    }
}

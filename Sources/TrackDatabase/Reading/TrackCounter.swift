/// A number of tracks, and their total duration.
package struct TrackCount: Equatable, Sendable {
    /// Number of the tracks.
    package var tracks: Int64
    /// Seconds.
    package var duration: Double
}

/// Counts tracks.
struct TrackCounter {
    private let core: ReaderCore

    /// A counter for this database.
    init(_ core: ReaderCore) { self.core = core }

    /// Counts the present tracks that pass a filter; nil: all.
    func count(_ filter: TrackFilter?) throws(TrackDatabaseError) -> TrackCount {
        try core.question("very many tracks were counted") { () throws(TrackDatabaseError) in try counted(filter) }
    }

    /// The same within a query.
    func counted(_ filter: TrackFilter?) throws(TrackDatabaseError) -> TrackCount {
        guard let source = try countedRows(filter, needsTracks: false) else {
            let totals = try core.totals()
            return TrackCount(tracks: totals.tracks, duration: totals.duration)
        }
        let statement = try core.database.statement(
            QueryStatement.numbered("SELECT sum(\(source.tracks)), sum(\(source.duration)) \(source.sql)"))
        defer { statement.reset() }
        try statement.bind(source.values)
        guard try statement.step() else { return TrackCount(tracks: 0, duration: 0) }
        return TrackCount(tracks: statement.integer(0), duration: Double(statement.integer(1)) / 1000)
    }

    /// The rows to count for a filter, in the visible folders; nil: all sets. `needsTracks`: each row is one track.
    func countedRows(_ filter: TrackFilter?, needsTracks: Bool) throws(TrackDatabaseError) -> CountedRows? {
        let own = try core.compiledAlone(filter)
        guard !needsTracks, own?.asksTracks != true else {
            return CountedRows(tracks: try core.compiled(filter) ?? .constant(true))
        }
        let visible = try core.visible()
        guard own != nil || visible != nil else { return nil }
        return CountedRows(sets: own ?? .constant(true), in: visible)
    }
}

/// Tables and conditions of the rows to count: sets of tags if the filter uses only sets, else tracks. If only some
/// folders are visible, the sets in them.
struct CountedRows {
    /// From `FROM` on, with `@` for each of `values`.
    let sql: String
    let values: [SQLiteValue]
    /// True if each row is a set `s`; false: each row is a track `t`.
    let bySets: Bool
    /// Number of the tracks of a row.
    let tracks: String
    /// Milliseconds of a row.
    let duration: String

    /// The tracks that pass a filter.
    init(tracks filter: CompiledFilter) {
        let phase = QueryPlan.sorted([], by: filter.driver).phases[0]
        bySets = false
        (tracks, duration) = ("1", "t.duration")
        sql = """
            FROM \(phase.tables) WHERE \(phase.condition)
            AND (t.flags & \(TrackFlags.missing)) = 0 AND (\(filter.sql))
            """
        values = phase.values + filter.values
    }

    /// The sets that pass a filter of sets, with their tracks in these folders; nil: in all.
    init(sets filter: CompiledFilter, in visible: VisibleFolders?) {
        bySets = true
        let counts = visible == nil ? "s" : "p"
        (tracks, duration) = ("\(counts).tracks", "\(counts).duration")
        var (tables, condition): (String, String)
        var values: [SQLiteValue] = []
        switch filter.driver {
        case .values(let ids)?:
            tables = """
                (SELECT DISTINCT tagset AS id FROM tagset_value
                WHERE value IN (SELECT value FROM json_each(@))) d CROSS JOIN tagset s
                """
            condition = "s.id = d.id"
            values = [QueryPlan.json(ids)]
            if visible != nil { tables += " CROSS JOIN placement p" }
        case .album(let id)?:
            tables = "tagset s"
            condition = "s.album = @"
            values = [.integer(id)]
            if visible != nil { tables += " CROSS JOIN placement p" }
        case .own?, .folders?, nil:
            // The placements are in the order of the sets.
            tables = visible == nil ? "tagset s" : "placement p CROSS JOIN tagset s"
            condition = "1"
        }
        if let visible {
            condition += " AND s.id = p.tagset AND holds(p.folder, @)"
            values.append(.ids(visible.ids))
        } else {
            condition += " AND s.tracks > 0"
        }
        sql = "FROM \(tables) WHERE \(condition) AND (\(filter.sql))"
        self.values = values + filter.values
    }
}

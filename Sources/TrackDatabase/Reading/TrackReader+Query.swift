/// A question for tracks.
package struct TrackQuery: Equatable, Sendable {
    /// Nil: all tracks.
    package var filter: TrackFilter?
    package var sort: TrackSort
    /// Rows of the page, 1 to 10,000.
    package var limit: Int
    /// `next` of the page before; nil: the first page.
    package var after: String?

    /// A question by its parts.
    package init(filter: TrackFilter? = nil, sort: TrackSort = .keys([]), limit: Int = 100, after: String? = nil) {
        self.filter = filter
        self.sort = sort
        self.limit = limit
        self.after = after
    }

    /// Rows of a page, at most.
    package static let maximumLimit = 10_000

    /// The limit within its bounds.
    var rowLimit: Int { min(max(1, limit), Self.maximumLimit) }

    /// All of it but its page.
    var description: String { "\(String(describing: filter))\(sort)" }
}

/// A page of an answer.
package struct Page<Row: Equatable & Sendable>: Equatable, Sendable {
    package var rows: [Row]
    /// For `after` of the next page; nil: this is the last one.
    package var next: String?
    /// Version of the library that was asked.
    package var version: Int64

    /// A page by its parts.
    init(rows: [Row], next: String?, version: Int64) {
        self.rows = rows
        self.next = next
        self.version = version
    }
}

extension TrackReader {
    /// A page of tracks whose files are there.
    package func query(_ query: TrackQuery) throws(TrackDatabaseError) -> Page<StoredTrack> {
        try question("the filter looks at very many tracks") { () throws(TrackDatabaseError) in
            let page = try ids(query)
            return Page(rows: try load(page.rows), next: page.next, version: page.version)
        }
    }

    /// Hands over the tracks of a page, with these tags of each, until `take` returns false: the next page begins with that one.
    package func query(
        _ query: TrackQuery, reading tags: TagChoice, _ take: (StoredTrack) -> Bool
    ) throws(TrackDatabaseError) -> (next: String?, version: Int64) {
        try question("the filter looks at very many tracks") { () throws(TrackDatabaseError) in
            let found = try find(query)
            var taken = 0
            for row in found.rows.prefix(query.rowLimit) {
                if let track = try load(row.id, tags), !take(track) { break }
                taken += 1
            }
            return (found.next(after: taken), found.version)
        }
    }

    /// The same as numbers of tracks, which takes a tenth of the time.
    package func queryIds(_ query: TrackQuery) throws(TrackDatabaseError) -> Page<Int64> {
        try question("the filter looks at very many tracks") { () throws(TrackDatabaseError) in try ids(query) }
    }

    /// The same within a question.
    func ids(_ query: TrackQuery) throws(TrackDatabaseError) -> Page<Int64> {
        let found = try find(query)
        let rows = found.rows.prefix(query.rowLimit)
        return Page(rows: rows.map(\.id), next: found.next(after: rows.count), version: found.version)
    }

    /// The rows of a page, and the first of the next one.
    private func find(_ query: TrackQuery) throws(TrackDatabaseError) -> FoundRows {
        let limit = query.rowLimit
        let summary = try totals()
        let filter = try compiled(query.filter)
        let description = query.description
        let after = try query.after.map { text throws(TrackDatabaseError) in
            try QueryCursor(text, question: description).values
        }
        let found: [FoundRow]
        switch query.sort {
        case .keys(let keys):
            let columns = QueryPlan.columns(keys)
            guard after == nil || after?.count == columns.count else { throw .invalidCursor }
            let plan = try plan(keys, columns, filter, limit, Double(summary.tracks))
            database.explainSlowness(plan.slowness)
            found = try rows(plan, filter ?? .constant(true), after, limit + 1)
        case .random(let seed):
            found = try ShuffledQuery(
                database: database, filter: filter ?? .constant(true), total: Double(summary.tracks), limit: limit + 1
            ).tracks(seed, after)
        case .randomAlbums(let seed):
            found = try ShuffledQuery(
                database: database, filter: filter ?? .constant(true), total: Double(summary.tracks), limit: limit + 1
            ).albums(seed, after)
        }
        return FoundRows(rows: found, question: description, version: summary.version)
    }

    /// The cheaper of the ways to walk: by the index of the order, or by the rows that the filter finds.
    private func plan(
        _ keys: [SortKey], _ columns: [SortColumn], _ filter: CompiledFilter?, _ limit: Int, _ total: Double
    ) throws(TrackDatabaseError) -> QueryPlan {
        guard let ordered = QueryPlan.ordered(by: keys) else { return .sorted(columns, by: filter?.driver) }
        guard let filter, filter.driver != nil else { return ordered }
        let walked = Double(limit) / max(filter.share, 1e-9)
        // Walking, a set of tags is looked at in place of its tracks where only sets are asked about.
        let walking = min(walked, total) * (filter.asksTracks ? 1 : 0.4)
        if filter.driven * 2 <= walking * Self.price(of: keys) { return .sorted(columns, by: filter.driver) }
        guard case .values(let ids)? = filter.driver, filter.driven * Self.priceOfSets < walking,
            filter.driven < total / 2
        else { return ordered }
        return ordered.narrowed(to: try sets(ids))
    }

    /// To note the sets of tags of a track that a driver leads to costs this much of a row of the walk.
    private static let priceOfSets = 0.04

    /// Sets of tags with one of these values.
    private func sets(_ values: [Int64]) throws(TrackDatabaseError) -> IdSet {
        let statement = try database.statement(
            "SELECT tagset FROM tagset_value WHERE value IN (SELECT value FROM json_each(?1))")
        defer { statement.reset() }
        try statement.bind([QueryPlan.json(values)])
        var sets: [Int64] = []
        while try statement.step() { sets.append(statement.integer(0)) }
        return IdSet(sets)
    }

    /// Rows of a driver that cost as much as one of the walk. Titles lead to tracks in no order of theirs, so each one walked
    /// reads other pages.
    private static func price(of keys: [SortKey]) -> Double {
        if case .tag(let tag)? = keys.first?.field, tag.isOwn { return 6 }
        return 1
    }

    private func rows(
        _ plan: QueryPlan, _ filter: CompiledFilter, _ after: [SQLiteValue]?, _ limit: Int
    ) throws(TrackDatabaseError) -> [FoundRow] {
        var found: [FoundRow] = []
        var after = after
        for (index, phase) in plan.phases.enumerated() where found.count < limit {
            if let place = after, index + 1 < plan.phases.count, Self.isLast(place[0]) { continue }
            // Behind a row of the phase before, this one begins at its first row.
            if index > 0, let place = after, !Self.isLast(place[0]) { after = nil }
            let statement = QueryStatement(phase: phase, filter: filter, after: after, limit: limit - found.count)
            found += try FoundRow.all(statement.make(), phase.columns.count, database)
        }
        return found
    }

    /// True: it stands for a missing value, see `SortColumn.last`.
    private static func isLast(_ value: SQLiteValue) -> Bool { value == .blob([]) || value == .real(-.infinity) }
}

/// Rows of a page, and one more if others follow.
private struct FoundRows {
    let rows: [FoundRow]
    /// The question as cursors have it.
    let question: String
    /// Version of the library.
    let version: Int64

    /// `next` of a page of so many rows; nil: it is the last one.
    func next(after count: Int) -> String? {
        guard count > 0, count < rows.count else { return nil }
        return QueryCursor(rows[count - 1].columns).text(question)
    }
}

/// A track and the columns by which it was sorted.
struct FoundRow {
    /// Number of the track.
    var id: Int64
    var columns: [SQLiteValue]

    /// All rows of a statement whose columns are the number of the track and then those.
    static func all(
        _ statement: (sql: String, values: [SQLiteValue]), _ columns: Int, _ database: SQLiteDatabase
    ) throws(TrackDatabaseError) -> [FoundRow] {
        let prepared = try database.statement(statement.sql)
        defer { prepared.reset() }
        try prepared.bind(statement.values)
        var found: [FoundRow] = []
        while try prepared.step() {
            found.append(
                FoundRow(
                    id: prepared.integer(0), columns: (0..<columns).map { prepared.value(Int32($0 + 1)) }))
        }
        return found
    }
}

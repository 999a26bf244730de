/// Finds tracks page by page.
struct QueryReader {
    private let core: ReaderCore
    private let records: RecordReader

    /// A reader of this database.
    init(_ core: ReaderCore) {
        self.core = core
        records = RecordReader(core)
    }

    /// A page of tracks whose files are present.
    func query(_ query: TrackQuery) throws(TrackDatabaseError) -> Page<StoredTrack> {
        try core.question("the filter looks at very many tracks") { () throws(TrackDatabaseError) in
            let page = try ids(query)
            return Page(rows: try records.load(page.rows), next: page.next, version: page.version)
        }
    }

    /// Passes the tracks of a page, with these tags of each and with feedback and measured loudness if `isWhole`, until
    /// `take` returns false: the next page begins with that track.
    func query(
        _ query: TrackQuery, reading tags: TagChoice, isWhole: Bool = true, _ take: (StoredTrack) -> Bool
    ) throws(TrackDatabaseError) -> (next: String?, version: Int64) {
        try core.question("the filter looks at very many tracks") { () throws(TrackDatabaseError) in
            let found = try find(query)
            var taken = 0
            for row in found.rows.prefix(query.rowLimit) {
                if let track = try records.load(row.id, tags, isWhole: isWhole), !take(track) { break }
                taken += 1
            }
            return (found.next(after: taken), found.version)
        }
    }

    /// A page as numbers of tracks, which takes a tenth of the time.
    func queryIds(_ query: TrackQuery) throws(TrackDatabaseError) -> Page<Int64> {
        try core.question("the filter looks at very many tracks") { () throws(TrackDatabaseError) in try ids(query) }
    }

    /// The same within a transaction of `question`.
    func ids(_ query: TrackQuery) throws(TrackDatabaseError) -> Page<Int64> {
        let found = try find(query)
        let rows = found.rows.prefix(query.rowLimit)
        return Page(rows: rows.map(\.id), next: found.next(after: rows.count), version: found.version)
    }

    /// The rows of a page, and the first of the next one.
    func find(_ query: TrackQuery) throws(TrackDatabaseError) -> FoundRows {
        let limit = query.rowLimit
        let summary = try core.totals()
        let description = query.description
        let found: [FoundRow]
        switch query.sort {
        case .keys(let keys): found = try rows(try ordered(query, keys, Double(summary.tracks)), limit + 1)
        case .random(let seed): found = try shuffled(query, Double(summary.tracks)).tracks(seed, try place(query))
        case .randomAlbums(let seed): found = try shuffled(query, Double(summary.tracks)).albums(seed, try place(query))
        }
        return FoundRows(rows: found, question: description, version: summary.version)
    }

    private func shuffled(_ query: TrackQuery, _ total: Double) throws(TrackDatabaseError) -> ShuffledQuery {
        ShuffledQuery(
            database: core.database, filter: try core.compiled(query.filter) ?? .constant(true), total: total,
            limit: query.rowLimit + 1)
    }

    /// Values of the columns in the last row of the previous page; nil: it is the first page.
    private func place(_ query: TrackQuery) throws(TrackDatabaseError) -> [SQLiteValue]? {
        try query.after.map { text throws(TrackDatabaseError) in
            try QueryCursor(text, question: query.description).values
        }
    }

    /// A query in the order of these keys with its plan. `total`: number of tracks in the library.
    func ordered(
        _ query: TrackQuery, _ keys: [SortKey], _ total: Double
    ) throws(TrackDatabaseError) -> OrderedQuestion {
        let filter = try core.compiled(query.filter)
        let after = try place(query)
        let columns = QueryPlan.columns(keys)
        guard after == nil || after?.count == columns.count else { throw .invalidCursor }
        let plan = try plan(keys, columns, filter, query.rowLimit, total)
        core.database.explainSlowness(plan.slowness)
        return OrderedQuestion(plan: plan, filter: filter ?? .constant(true), after: after)
    }

    /// The cheaper plan: a walk by the index of the order, or a sort of the rows that the filter finds.
    private func plan(
        _ keys: [SortKey], _ columns: [SortColumn], _ filter: CompiledFilter?, _ limit: Int, _ total: Double
    ) throws(TrackDatabaseError) -> QueryPlan {
        guard let ordered = QueryPlan.ordered(by: keys) else { return .sorted(columns, by: filter?.driver) }
        guard let filter else { return ordered }
        if keys.first?.field == .uri, let folders = filter.folders, Self.isWalked(filter) {
            return ordered.narrowed(toFolders: folders)
        }
        guard filter.driver != nil else { return ordered }
        let walked = Double(limit) / max(filter.share, 1e-9)
        // A walk tests a set of tags instead of its tracks if the filter uses only sets.
        let walking = min(walked, total) * (filter.asksTracks ? 1 : 0.4)
        if filter.driven * 2 <= walking * Self.price(of: keys) { return .sorted(columns, by: filter.driver) }
        guard case .values(let ids)? = filter.driver, filter.driven * Self.priceOfSets < walking,
            filter.driven < total / 2
        else { return ordered }
        return ordered.narrowed(to: try sets(ids))
    }

    /// True if no index leads to the tracks of a filter, or folders lead to very many.
    private static func isWalked(_ filter: CompiledFilter) -> Bool {
        switch filter.driver {
        case nil: true
        case .folders?: filter.driven > mostSorted
        case .values?, .own?, .album?: false
        }
    }

    /// Tracks in folders that each page sorts, at most. More tracks are walked in their order, and other folders are
    /// skipped.
    private static let mostSorted = 2048.0

    /// Cost of collecting a set of tags, relative to a row of the walk.
    private static let priceOfSets = 0.04

    /// Sets of tags with one of these values.
    private func sets(_ values: [Int64]) throws(TrackDatabaseError) -> IdSet {
        let statement = try core.database.statement(
            "SELECT tagset FROM tagset_value WHERE value IN (SELECT value FROM json_each(?1))")
        defer { statement.reset() }
        try statement.bind([QueryPlan.json(values)])
        var sets: [Int64] = []
        while try statement.step() { sets.append(statement.integer(0)) }
        return IdSet(sets)
    }

    /// Rows of a driver that cost as much as one row of the walk. An index of titles leads to tracks in random order,
    /// so each row of the walk reads other pages.
    private static func price(of keys: [SortKey]) -> Double {
        if case .tag(let tag)? = keys.first?.field, tag.isOwn { return 6 }
        return 1
    }

    private func rows(_ question: OrderedQuestion, _ limit: Int) throws(TrackDatabaseError) -> [FoundRow] {
        var found: [FoundRow] = []
        for (index, phase) in question.plan.phases.enumerated() where found.count < limit {
            guard case .from(let after) = question.start(ofPhase: index) else { continue }
            let statement = QueryStatement(
                phase: phase, filter: question.filter, after: after, limit: limit - found.count)
            found += try FoundRow.all(statement.make(), phase.columns.count, core.database)
        }
        return found
    }
}

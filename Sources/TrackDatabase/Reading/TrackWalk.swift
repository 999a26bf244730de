/// Reads all tracks of a query in one state of the database.
struct TrackWalk {
    private let core: ReaderCore
    private let queries: QueryReader
    private let records: RecordReader

    /// Tracks in one portion, at most.
    private static let portion = 1000
    private static let reason = "the filter looks at very many tracks"

    /// A walk in this database.
    init(_ core: ReaderCore) {
        self.core = core
        queries = QueryReader(core)
        records = RecordReader(core)
    }

    /// Passes all tracks of a query in its order, portion by portion, in one state of the database. `body` returns
    /// false to end the walk. Each page has the time limit of a query; the query's own page is ignored.
    func walk(
        _ query: TrackQuery, _ body: ([StoredTrack]) -> Bool
    ) throws(TrackDatabaseError) {
        var query = query
        query.limit = TrackQuery.maximumLimit
        query.after = nil
        try core.database.execute("BEGIN")
        defer { try? core.database.execute("COMMIT") }
        repeat {
            let page = try core.limited(Self.reason) { () throws(TrackDatabaseError) in try queries.ids(query) }
            var rest = page.rows[...]
            while !rest.isEmpty {
                let part = rest.prefix(Self.portion)
                rest = rest.dropFirst(part.count)
                let tracks = try core.limited(Self.reason) { () throws(TrackDatabaseError) in
                    try records.load(Array(part))
                }
                guard body(tracks) else { return }
            }
            query.after = page.next
        } while query.after != nil
    }
}

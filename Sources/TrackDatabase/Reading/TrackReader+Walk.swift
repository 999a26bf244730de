extension TrackReader {
    /// Tracks that a walk hands over at once, at most.
    private static let portion = 1000

    /// Hands over all tracks of a query in its order, portion by portion, as they are at one moment. `body` returns false to
    /// end the walk. Each page may take as long as a question; the query's own page does not matter.
    package func walk(
        _ query: TrackQuery, _ body: ([StoredTrack]) -> Bool
    ) throws(TrackDatabaseError) {
        var query = query
        query.limit = TrackQuery.maximumLimit
        query.after = nil
        try database.execute("BEGIN")
        defer { try? database.execute("COMMIT") }
        repeat {
            let page = try limited { () throws(TrackDatabaseError) in try ids(query) }
            var rest = page.rows[...]
            while !rest.isEmpty {
                let part = rest.prefix(Self.portion)
                rest = rest.dropFirst(part.count)
                let tracks = try limited { () throws(TrackDatabaseError) in try load(Array(part)) }
                guard body(tracks) else { return }
            }
            query.after = page.next
        } while query.after != nil
    }

    private func limited<Result>(
        _ body: () throws(TrackDatabaseError) -> Result
    ) throws(TrackDatabaseError) -> Result {
        try database.limited(seconds: timeLimit, reason: "the filter looks at very many tracks", body)
    }
}

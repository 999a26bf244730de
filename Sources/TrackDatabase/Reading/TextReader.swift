/// Reads tracks as text.
struct TextReader {
    private let core: ReaderCore
    private let queries: QueryReader
    private let records: RecordReader

    /// A reader of this database.
    init(_ core: ReaderCore) {
        self.core = core
        queries = QueryReader(core)
        records = RecordReader(core)
    }

    /// Tracks of a page as text. A page ends after the row that reaches `size` bytes, or at the query's limit. Tracks
    /// are skipped if `hasRoot` is false for their folder of the library.
    func text(
        _ query: TrackQuery, _ lines: [TrackLine], size: Int, hasRoot: @escaping ([UInt8]) -> Bool
    ) throws(TrackDatabaseError) -> TrackText {
        try core.question("the filter looks at very many tracks") { () throws(TrackDatabaseError) in
            var writer = try TrackTextWriter(lines, core.database, size: size, hasRoot: hasRoot)
            let end = try each(query, selecting: TrackTextWriter.columns) {
                (row, first) throws(TrackDatabaseError) in
                try writer.write(row, first, records)
                return writer.size < size
            }
            return TrackText(bytes: writer.bytes, count: writer.count, next: end.next, version: end.version)
        }
    }

    /// The tracks at these places as text, even missing ones; nil: not a place of the library. The text ends after the
    /// track that reaches `size` bytes; `ends` has one entry for each written track.
    func text(
        at paths: [TrackPath?], _ lines: [TrackLine], size: Int, hasRoot: @escaping ([UInt8]) -> Bool
    ) throws(TrackDatabaseError) -> TrackText {
        try core.question("very many rows were read") { () throws(TrackDatabaseError) in
            var writer = try TrackTextWriter(lines, core.database, size: size, hasRoot: hasRoot)
            let statement = try core.database.statement(
                """
                SELECT \(TrackTextWriter.columns) FROM folder f CROSS JOIN track t ON t.folder = f.id AND t.name = ?2
                WHERE f.path = ?1
                """)
            defer { statement.reset() }
            var ends: [Int] = []
            for path in paths {
                statement.reset()
                if let path, try statement.bind([.blob(path.folder), .blob(path.name)]).step(),
                    try core.shows(folder: statement.integer(0))
                {
                    try writer.write(statement, 0, records)
                }
                ends.append(writer.size)
                guard writer.size < size else { break }
            }
            return TrackText(
                bytes: writer.bytes, count: writer.count, ends: ends, next: nil, version: try core.totals().version)
        }
    }

    /// Steps through the rows of a page, with these columns of `track t` as well, until `take` returns false: the page
    /// ends with that row. `take` gets the index of the first of the columns.
    private func each(
        _ query: TrackQuery, selecting columns: String,
        _ take: (SQLiteStatement, Int32) throws(TrackDatabaseError) -> Bool
    ) throws(TrackDatabaseError) -> (next: String?, version: Int64) {
        switch query.sort {
        case .keys(let keys):
            let summary = try core.totals()
            let prepared = try queries.ordered(query, keys, Double(summary.tracks))
            let place = try walk(prepared, query.rowLimit, columns, take)
            return (place.map { QueryCursor($0).text(query.description) }, summary.version)
        case .random, .randomAlbums:
            let found = try queries.find(query)
            let statement = try core.database.statement("SELECT \(columns) FROM track t WHERE t.id = ?1")
            defer { statement.reset() }
            var taken = 0
            for row in found.rows.prefix(query.rowLimit) {
                statement.reset()
                taken += 1
                guard try statement.bind([.integer(row.id)]).step() else { continue }
                guard try take(statement, 0) else { break }
            }
            return (found.next(after: taken), found.version)
        }
    }

    /// Walks the phases of a plan. Returns the columns of the last row of the page; nil: no row follows it.
    private func walk(
        _ question: OrderedQuestion, _ limit: Int, _ selected: String,
        _ take: (SQLiteStatement, Int32) throws(TrackDatabaseError) -> Bool
    ) throws(TrackDatabaseError) -> [SQLiteValue]? {
        var taken = 0
        var last: [SQLiteValue]?
        for (index, phase) in question.plan.phases.enumerated() {
            guard case .from(let after) = question.start(ofPhase: index) else { continue }
            let made = QueryStatement(
                phase: phase, filter: question.filter, after: after, limit: limit - taken + 1
            ).make(selecting: selected)
            let statement = try core.database.statement(made.sql)
            defer { statement.reset() }
            try statement.bind(made.values)
            while try statement.step() {
                if let last { return last }
                taken += 1
                let hasRoom = try take(statement, Int32(1 + phase.columns.count))
                guard !hasRoom || taken == limit else { continue }
                last = (0..<phase.columns.count).map { statement.value(Int32($0 + 1)) }
            }
        }
        return nil
    }
}

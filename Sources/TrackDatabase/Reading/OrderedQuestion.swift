/// A query ordered by keys.
struct OrderedQuestion {
    let plan: QueryPlan
    let filter: CompiledFilter
    /// Values of the columns in the last row of the previous page; nil: it is the first page.
    let after: [SQLiteValue]?

    /// Start of a phase.
    enum Start {
        /// The cursor is in a later phase.
        case passed
        /// After the row with these values; nil: from the first row on.
        case from([SQLiteValue]?)
    }

    /// The start of the phase with this index.
    func start(ofPhase index: Int) -> Start {
        guard let after else { return .from(nil) }
        let isLast = Self.isLast(after[0])
        if isLast, index + 1 < plan.phases.count { return .passed }
        // After a row of the previous phase, this one starts at its first row.
        return .from(index > 0 && !isLast ? nil : after)
    }

    /// True if the value stands for a missing one, see `SortColumn.last`.
    private static func isLast(_ value: SQLiteValue) -> Bool { value == .blob([]) || value == .real(-.infinity) }
}

/// Rows of a page, and the first of the next one.
struct FoundRows {
    let rows: [FoundRow]
    /// The query in the form of cursors.
    let question: String
    /// Version of the library.
    let version: Int64

    /// `next` of a page of `count` rows; nil: it is the last one.
    func next(after count: Int) -> String? {
        guard count > 0, count < rows.count else { return nil }
        return QueryCursor(rows[count - 1].columns).text(question)
    }
}

/// A track and its sort columns.
struct FoundRow {
    /// Number of the track.
    var id: Int64
    var columns: [SQLiteValue]

    /// All rows of a statement; its columns are the number of the track and then the sort columns.
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

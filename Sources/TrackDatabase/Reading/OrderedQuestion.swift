/// A query whose order is one of keys.
struct OrderedQuestion {
    let plan: QueryPlan
    let filter: CompiledFilter
    /// Values of the columns in the last row of the page before; nil: it is the first page.
    let after: [SQLiteValue]?

    /// Begin of a phase.
    enum Start {
        /// The place was in a later phase.
        case passed
        /// From behind the row with these values on; nil: from the first row on.
        case from([SQLiteValue]?)
    }

    /// The begin of the phase with this index.
    func start(ofPhase index: Int) -> Start {
        guard let after else { return .from(nil) }
        let isLast = Self.isLast(after[0])
        if isLast, index + 1 < plan.phases.count { return .passed }
        // Behind a row of the phase before, this one begins at its first row.
        return .from(index > 0 && !isLast ? nil : after)
    }

    /// True: it stands for a missing value, see `SortColumn.last`.
    private static func isLast(_ value: SQLiteValue) -> Bool { value == .blob([]) || value == .real(-.infinity) }
}

/// Rows of a page, and one more if others follow.
struct FoundRows {
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

import NowPlaying

/// The list of changes, for programs that mirror the database.
extension FeedbackDatabase {
    /// Makes the list in a database without one; its items are the first changes.
    static let changeSchema = """
        CREATE TABLE origin (number INTEGER);
        INSERT INTO origin VALUES ((random() & 140737488355327) + 1);
        CREATE TABLE change (
            number INTEGER PRIMARY KEY AUTOINCREMENT, identity TEXT NOT NULL UNIQUE, uri TEXT
        );
        INSERT INTO change (identity) SELECT identity FROM item;
        CREATE TRIGGER item_changed AFTER INSERT ON item BEGIN
            INSERT OR REPLACE INTO change (identity, uri)
            VALUES (new.identity, (SELECT uri FROM change WHERE identity = new.identity));
        END;
        """

    /// True if the database has the list.
    static func hasChanges(_ connection: SQLiteConnection) throws(SQLiteConnection.Failure) -> Bool {
        try connection.row("SELECT count(*) FROM sqlite_master WHERE name = 'change'", columns: 1) == [1]
    }

    /// Changes after a position, at most `limit`. Throws `Failure`.
    package func changes(since: FeedbackCursor, limit: Int) throws(Failure) -> FeedbackChanges {
        guard exists else {
            return FeedbackChanges(records: [], next: .beginning, isReset: since != .beginning, hasMore: false)
        }
        return try use { connection throws(SQLiteConnection.Failure) in
            let origin = try Self.origin(connection)
            let last = try connection.row("SELECT seq FROM sqlite_sequence WHERE name = 'change'", columns: 1)
            let newest = Int64(last.first.flatMap { $0 } ?? 0)
            let isKnown = since == .beginning || (since.origin == origin && since.number <= newest)
            let start = isKnown ? since.number : 0
            let rows = try connection.rows(
                """
                SELECT change.number, change.identity, change.uri, \(Self.fields) FROM change
                CROSS JOIN item ON item.identity = change.identity WHERE change.number > ?1 ORDER BY change.number
                """, [.number(Double(start))], columns: 3 + Self.fieldCount, limit: limit + 1)
            let records = rows.prefix(limit).map { row in
                FeedbackRecord(
                    identity: row[1].text ?? "", uri: row[2].text,
                    feedback: Self.feedback(row.dropFirst(3).map(\.number)),
                    cursor: FeedbackCursor(origin: origin, number: Int64(row[0].number ?? 0)))
            }
            return FeedbackChanges(
                records: records,
                next: records.last?.cursor ?? FeedbackCursor(origin: origin, number: isKnown ? since.number : 0),
                isReset: !isKnown, hasMore: rows.count > limit)
        }
    }

    /// Random number of a database.
    static func origin(_ connection: SQLiteConnection) throws(SQLiteConnection.Failure) -> Int64 {
        Int64(try connection.row("SELECT number FROM origin", columns: 1).first.flatMap { $0 } ?? 0)
    }
}

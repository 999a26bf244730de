/// Databases of the library as earlier versions of the program left them.
package enum EarlierDatabase {
    /// Statements that make a database of version 5 into one of version 4.
    private static let undoFifth = ["DROP TABLE loudness", "PRAGMA user_version = 4"]

    /// Statements that make one of version 4 into one of version 3.
    private static let undoFourth = [
        """
        CREATE TABLE old(
            tag INTEGER NOT NULL, folded TEXT NOT NULL, text TEXT NOT NULL, id INTEGER NOT NULL,
            tracks INTEGER NOT NULL, duration INTEGER NOT NULL, PRIMARY KEY(tag, folded, text)) WITHOUT ROWID
        """,
        """
        INSERT INTO old SELECT tag, folded, (SELECT text FROM value WHERE id = o.id), id, tracks, duration FROM ordered o
        """,
        "DROP TABLE ordered", "ALTER TABLE old RENAME TO ordered", "UPDATE tagset SET hash = hash << 24 | 4711",
        "PRAGMA user_version = 3",
    ]

    /// Statements that make one of version 3 into one of version 2.
    private static let undoThird = ["DROP TABLE placement", "PRAGMA user_version = 2"]

    /// Statements that make one of version 2 into one of version 1.
    private static let undoSecond = [
        "ALTER TABLE folder ADD COLUMN parent INTEGER",
        "ALTER TABLE folder ADD COLUMN name BLOB NOT NULL DEFAULT x''",
        "UPDATE folder SET name = CAST(id AS BLOB), parent = id",
        "CREATE UNIQUE INDEX folder_child ON folder(parent, name)", "PRAGMA user_version = 1",
    ]

    /// Converts the database at `path`, which no process has open, to an earlier version: 1 to 4.
    package static func make(_ version: Int, _ path: String) {
        let statements =
            undoFifth + (version < 4 ? undoFourth : []) + (version < 3 ? undoThird : [])
            + (version < 2 ? undoSecond : [])
        for statement in statements { SQLiteCheck.rows(path, statement) }
        // All of it in one file.
        SQLiteCheck.rows(path, "PRAGMA wal_checkpoint(TRUNCATE)")
        precondition(SQLiteCheck.rows(path, "PRAGMA user_version") == ["\(version)"], "the database was not changed")
    }
}

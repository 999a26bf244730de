import CLibraryNames
import LinuxSystem

/// SQLite's own judgement of a database.
package enum SQLiteCheck {
    private typealias Handle = OpaquePointer
    private typealias Text = UnsafePointer<CChar>
    private typealias Open = @convention(c) (Text, UnsafeMutablePointer<Handle?>, Int32, Text?) -> Int32
    private typealias Prepare =
        @convention(c) (Handle, Text, Int32, UnsafeMutablePointer<Handle?>, OpaquePointer?) -> Int32
    private typealias Step = @convention(c) (Handle?) -> Int32
    private typealias Column = @convention(c) (Handle, Int32) -> Text?

    /// SQLITE_OPEN_READWRITE.
    private static let readWrite: Int32 = 0x2
    /// SQLITE_ROW.
    private static let row: Int32 = 100

    /// Rows of `PRAGMA integrity_check`: `ok`, or the faults; empty: the database cannot be opened.
    package static func words(_ path: String) -> [String] { rows(path, "PRAGMA integrity_check") }

    /// Carries out one statement, and returns the first column of its rows; empty: there are none, or the database can't be
    /// opened.
    @discardableResult package static func rows(_ path: String, _ sql: String) -> [String] {
        guard let library = DynamicLibrary(LIBRARY_SQLITE3_FILE),
            let open = library.function("sqlite3_open_v2", as: Open.self),
            let prepare = library.function("sqlite3_prepare_v2", as: Prepare.self),
            let step = library.function("sqlite3_step", as: Step.self),
            let column = library.function("sqlite3_column_text", as: Column.self),
            let finalize = library.function("sqlite3_finalize", as: Step.self),
            let close = library.function("sqlite3_close_v2", as: Step.self)
        else { return [] }
        var database: Handle?
        defer { _ = close(database) }
        guard open(path, &database, readWrite, nil) == 0, let database else { return [] }
        var statement: Handle?
        defer { _ = finalize(statement) }
        guard prepare(database, sql, -1, &statement, nil) == 0, let statement else { return [] }
        var words: [String] = []
        while step(statement) == row { words.append(column(statement, 0).map { String(cString: $0) } ?? "") }
        return words
    }
}

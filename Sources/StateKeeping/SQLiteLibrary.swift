import CLibraryNames
import LinuxSystem

/// libsqlite3, opened at the first use and never at start. The functions are those of sqlite3.h, version 3.
struct SQLiteLibrary: Sendable {
    /// A database, or a statement of one.
    typealias Handle = OpaquePointer
    typealias Text = UnsafePointer<CChar>
    typealias Open = @convention(c) (Text, UnsafeMutablePointer<Handle?>, Int32, Text?) -> Int32
    typealias Close = @convention(c) (Handle?) -> Int32
    typealias Execute = @convention(c) (Handle, Text, OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32
    typealias Prepare = @convention(c) (Handle, Text, Int32, UnsafeMutablePointer<Handle?>, OpaquePointer?) -> Int32
    /// Runs a statement up to its next row. Returns `row`, `done` or an error.
    typealias Step = @convention(c) (Handle) -> Int32
    typealias BindText = @convention(c) (Handle, Int32, Text, Int32, Int) -> Int32
    typealias BindDouble = @convention(c) (Handle, Int32, Double) -> Int32
    typealias BindNull = @convention(c) (Handle, Int32) -> Int32
    typealias ColumnType = @convention(c) (Handle, Int32) -> Int32
    typealias ColumnDouble = @convention(c) (Handle, Int32) -> Double
    typealias ColumnText = @convention(c) (Handle, Int32) -> Text?

    private let library: DynamicLibrary
    let open: Open
    let close: Close
    let execute: Execute
    let prepare: Prepare
    let finalize: Close
    let step: Step
    let bindText: BindText
    let bindDouble: BindDouble
    let bindNull: BindNull
    let columnType: ColumnType
    let columnDouble: ColumnDouble
    let columnText: ColumnText

    /// SQLITE_OK.
    static let ok: Int32 = 0
    /// SQLITE_ROW: a row is available.
    static let row: Int32 = 100
    /// SQLITE_DONE: there are no more rows.
    static let done: Int32 = 101
    /// SQLITE_OPEN_READWRITE, SQLITE_OPEN_CREATE and SQLITE_OPEN_FULLMUTEX.
    static let openFlags: Int32 = 0x2 | 0x4 | 0x10000
    /// SQLITE_OPEN_READONLY, SQLITE_OPEN_URI and SQLITE_OPEN_FULLMUTEX.
    static let readFlags: Int32 = 0x1 | 0x40 | 0x10000
    /// SQLITE_TEXT as the type of a column.
    static let text: Int32 = 3
    /// SQLITE_NULL as the type of a column.
    static let null: Int32 = 5
    /// SQLITE_TRANSIENT: SQLite makes a copy of a text.
    static let transient = -1
    /// SQLITE_CORRUPT and SQLITE_NOTADB.
    static let damaged: Set<Int32> = [11, 26]
    /// SQLITE_READONLY, SQLITE_IOERR and SQLITE_CANTOPEN: the database may be readable only.
    static let unwritable: Set<Int32> = [8, 10, 14]

    /// Nil: it is not installed. Opened once for the life of the process; blocks, so never on the loop.
    static let shared: SQLiteLibrary? = SQLiteLibrary()

    private init?() {
        guard let library = DynamicLibrary(LIBRARY_SQLITE3_FILE),
            let open = library.function("sqlite3_open_v2", as: Open.self),
            let close = library.function("sqlite3_close_v2", as: Close.self),
            let execute = library.function("sqlite3_exec", as: Execute.self),
            let prepare = library.function("sqlite3_prepare_v2", as: Prepare.self),
            let finalize = library.function("sqlite3_finalize", as: Close.self),
            let step = library.function("sqlite3_step", as: Step.self),
            let bindText = library.function("sqlite3_bind_text", as: BindText.self),
            let bindDouble = library.function("sqlite3_bind_double", as: BindDouble.self),
            let bindNull = library.function("sqlite3_bind_null", as: BindNull.self),
            let columnType = library.function("sqlite3_column_type", as: ColumnType.self),
            let columnDouble = library.function("sqlite3_column_double", as: ColumnDouble.self),
            let columnText = library.function("sqlite3_column_text", as: ColumnText.self)
        else { return nil }
        self.library = library
        self.open = open
        self.close = close
        self.execute = execute
        self.prepare = prepare
        self.finalize = finalize
        self.step = step
        self.bindText = bindText
        self.bindDouble = bindDouble
        self.bindNull = bindNull
        self.columnType = columnType
        self.columnDouble = columnDouble
        self.columnText = columnText
    }

    /// Releases the megabyte of its code until the next request. Any thread.
    func rest() { library.giveBackPages(around: "sqlite3_open_v2") }

    /// Text for a result code.
    static func words(_ code: Int32) -> String {
        switch code & 0xFF {
        case 8: "it is read-only: the disk or the file is write-protected"
        case 10: "the disk fails (SQLite \(code))"
        case 13: "the disk is full"
        case 14: "cannot open the file: check the permissions of the state directory"
        case 5, 6: "another program has locked it"
        default: "its database fails (SQLite \(code))"
        }
    }
}

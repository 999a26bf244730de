import CSQLite

/// One connection to a database. Used by one thread at a time; every call may block.
final class SQLiteDatabase: @unchecked Sendable {
    // @unchecked: its owner uses it on one thread at a time.

    private let handle: OpaquePointer
    private var statements: [String: SQLiteStatement] = [:]
    private var deadline: Deadline?
    private var progress: UpgradeProgress?
    /// Portions of 5000 steps of SQLite within time limits so far.
    private(set) var portions = 0

    /// Cached statements, at most.
    private static let mostStatements = 96
    /// SQLITE_TRANSIENT: SQLite makes a copy.
    static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// Opens a file; for writing, it creates the file if necessary, for its owner alone.
    init(path: String, isReadOnly: Bool) throws(TrackDatabaseError) {
        var handle: OpaquePointer?
        let flags =
            isReadOnly
            ? SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX
            : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let result = sqlite3_open_v2(path, &handle, flags, nil)
        guard result == SQLITE_OK, let handle else {
            let error = TrackDatabaseError(code: result, Self.words(handle))
            sqlite3_close_v2(handle)
            throw error
        }
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, 5000)
        SQLiteFunctions.register(handle)
    }

    private static func words(_ handle: OpaquePointer?) -> String {
        sqlite3_errmsg(handle).map { String(cString: $0) } ?? "out of memory"
    }

    /// The error of the last call.
    func failure(_ code: Int32) -> TrackDatabaseError {
        if code & 0xFF == SQLITE_INTERRUPT, let deadline {
            return .tooSlow(seconds: deadline.seconds, reason: deadline.reason)
        }
        return TrackDatabaseError(code: code, Self.words(handle))
    }

    /// Runs statements without results.
    func execute(_ text: String) throws(TrackDatabaseError) {
        let result = sqlite3_exec(handle, text, nil, nil, nil)
        guard result == SQLITE_OK else { throw failure(result) }
    }

    /// A statement, ready for its values. It is cached, and must not be requested again while it is stepped.
    func statement(_ text: String) throws(TrackDatabaseError) -> SQLiteStatement {
        if let known = statements[text] {
            known.reset()
            return known
        }
        if statements.count >= Self.mostStatements { statements = [:] }
        let made = try prepare(text)
        statements[text] = made
        return made
    }

    /// A statement without caching, for text that is made for one query.
    func prepare(_ text: String) throws(TrackDatabaseError) -> SQLiteStatement {
        var statement: OpaquePointer?
        let result = sqlite3_prepare_v2(handle, text, -1, &statement, nil)
        guard result == SQLITE_OK, let statement else { throw failure(result) }
        return SQLiteStatement(statement, self)
    }

    /// Opens the cell of a row for reading; returns SQLite's result code.
    func open(_ table: String, _ column: String, _ row: Int64, _ cell: inout OpaquePointer?) -> Int32 {
        sqlite3_blob_open(handle, "main", table, column, row, 0, &cell)
    }

    /// The first number of the first row of the result; nil: there is no row, or it is NULL.
    func number(_ text: String, _ values: SQLiteValue...) throws(TrackDatabaseError) -> Int64? {
        let statement = try statement(text).bind(values)
        defer { statement.reset() }
        return try statement.step() ? statement.optionalInteger(0) : nil
    }

    /// Runs one statement with values.
    func run(_ text: String, _ values: SQLiteValue...) throws(TrackDatabaseError) {
        let statement = try statement(text).bind(values)
        defer { statement.reset() }
        while try statement.step() {}
    }

    /// Makes the SQL function `counted` count the rows of this progress.
    func countCalls(_ progress: UpgradeProgress) {
        self.progress = progress
        SQLiteFunctions.register(handle, progress)
    }

    /// Number of the last inserted row.
    var lastId: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Releases the memory of caches.
    func releaseMemory() {
        statements = [:]
        sqlite3_db_release_memory(handle)
    }

    /// Runs `body` and ends it with `tooSlow` after `seconds`. Not nested.
    func limited<Result>(
        seconds: Double, reason: String, _ body: () throws(TrackDatabaseError) -> Result
    ) throws(TrackDatabaseError) -> Result {
        let limit = Deadline(seconds: seconds, reason: reason)
        deadline = limit
        sqlite3_progress_handler(
            handle, 5000,
            { context in
                Unmanaged<Deadline>.fromOpaque(context!).takeUnretainedValue().passes() ? 0 : 1
            }, Unmanaged.passUnretained(limit).toOpaque())
        defer {
            sqlite3_progress_handler(handle, 0, nil, nil)
            portions += limit.portions
            deadline = nil
        }
        let result = try body()
        return result
    }

    /// Runs `body`, and ends it with an error once `isWanted` returns false. Not nested.
    func whileWanted(
        _ isWanted: @escaping () -> Bool, _ body: () throws(TrackDatabaseError) -> Void
    ) throws(TrackDatabaseError) {
        let wish = Wish(isWanted)
        sqlite3_progress_handler(
            handle, 5000,
            { context in Unmanaged<Wish>.fromOpaque(context!).takeUnretainedValue().isWanted() ? 0 : 1 },
            Unmanaged.passUnretained(wish).toOpaque())
        defer { sqlite3_progress_handler(handle, 0, nil, nil) }
        try body()
        withExtendedLifetime(wish) {}
    }

    /// Throws if the running time limit has passed; for work between statements.
    func checkDeadline() throws(TrackDatabaseError) {
        if let deadline, deadline.isOver { throw .tooSlow(seconds: deadline.seconds, reason: deadline.reason) }
    }

    /// Replaces the reason of the running time limit with a better one.
    func explainSlowness(_ reason: String) { deadline?.explain(reason) }

    deinit {
        statements = [:]
        sqlite3_close_v2(handle)
    }
}

/// The check that work is still wanted.
private final class Wish {
    let isWanted: () -> Bool

    init(_ isWanted: @escaping () -> Bool) { self.isWanted = isWanted }
}

/// The time limit of a query.
private final class Deadline {
    let seconds: Double
    private(set) var reason: String
    private(set) var portions = 0
    private let end: ContinuousClock.Instant

    init(seconds: Double, reason: String) {
        self.seconds = seconds
        self.reason = reason
        end = ContinuousClock.now + .seconds(seconds)
    }

    var isOver: Bool { ContinuousClock.now >= end }

    /// Counts a portion of steps; false: the time is up.
    func passes() -> Bool {
        portions += 1
        return !isOver
    }

    func explain(_ reason: String) { self.reason = reason }
}

import CSQLite
import Glibc

/// A value for a parameter of a statement.
enum SQLiteValue: Equatable {
    case null
    /// An integer.
    case integer(Int64)
    /// A number with a fraction.
    case real(Double)
    case text(String)
    case blob([UInt8])
    /// A set for `holds` and `holdsAny`.
    case ids(IdSet)

    /// An integer, or NULL for nil.
    static func optional(_ value: Int64?) -> SQLiteValue { value.map { .integer($0) } ?? .null }
}

/// A prepared statement. Used by the thread of its connection.
final class SQLiteStatement {
    private let handle: OpaquePointer
    private unowned let database: SQLiteDatabase

    /// A statement that SQLite has prepared; it is finalized with this object.
    init(_ handle: OpaquePointer, _ database: SQLiteDatabase) {
        self.handle = handle
        self.database = database
    }

    /// Resets the statement to before its first row, and clears its values.
    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// Binds values to its parameters, the first to `?1`.
    @discardableResult
    func bind(_ values: [SQLiteValue]) throws(TrackDatabaseError) -> SQLiteStatement {
        for (index, value) in values.enumerated() {
            let place = Int32(truncatingIfNeeded: index + 1)
            let result: Int32
            switch value {
            case .null: result = sqlite3_bind_null(handle, place)
            case .integer(let number): result = sqlite3_bind_int64(handle, place, number)
            case .real(let number): result = sqlite3_bind_double(handle, place, number)
            case .text(let text):
                var text = text
                result = text.withUTF8 { bytes in
                    bytes.withMemoryRebound(to: CChar.self) {
                        sqlite3_bind_text64(
                            handle, place, $0.baseAddress ?? Self.empty, UInt64($0.count), SQLiteDatabase.transient,
                            UInt8(SQLITE_UTF8))
                    }
                }
            case .blob(let bytes):
                result =
                    bytes.isEmpty
                    ? sqlite3_bind_zeroblob(handle, place, 0)
                    : sqlite3_bind_blob64(handle, place, bytes, UInt64(bytes.count), SQLiteDatabase.transient)
            case .ids(let set):
                result = sqlite3_bind_pointer(
                    handle, place, Unmanaged.passRetained(set).toOpaque(), IdSet.kind,
                    { Unmanaged<IdSet>.fromOpaque($0!).release() })
            }
            guard result == SQLITE_OK else { throw database.failure(result) }
        }
        return self
    }

    /// Binds a number to `?1`, the only parameter, and steps to the first row; false: there is none. Reset it
    /// afterwards.
    func first(_ number: Int64) throws(TrackDatabaseError) -> Bool {
        let result = sqlite3_bind_int64(handle, 1, number)
        guard result == SQLITE_OK else { throw database.failure(result) }
        return try step()
    }

    // SQLite treats a null pointer as NULL.
    nonisolated(unsafe) private static let empty = UnsafePointer(strdup(""))!

    /// Steps to the next row; false: there is none.
    func step() throws(TrackDatabaseError) -> Bool {
        let result = sqlite3_step(handle)
        if result == SQLITE_ROW { return true }
        if result == SQLITE_DONE { return false }
        let error = database.failure(result)
        sqlite3_reset(handle)
        throw error
    }

    /// The number in a column; 0 for NULL.
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// The number in a column; nil for NULL.
    func optionalInteger(_ column: Int32) -> Int64? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : sqlite3_column_int64(handle, column)
    }

    /// The number in a column; nil for NULL.
    func optionalReal(_ column: Int32) -> Double? {
        sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : sqlite3_column_double(handle, column)
    }

    /// The text in a column; empty for NULL.
    func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// The bytes in a column; empty for NULL.
    func blob(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    /// The bytes of a text or a blob in a column; empty for NULL. They are valid until the next step.
    func withBytes<Failure: Error>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        let start = sqlite3_column_blob(handle, column)
        try body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    /// True if the column is NULL or has no bytes.
    func isEmpty(_ column: Int32) -> Bool { sqlite3_column_bytes(handle, column) == 0 }

    /// The value of a column.
    func value(_ column: Int32) -> SQLiteValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_FLOAT: .real(sqlite3_column_double(handle, column))
        case SQLITE_TEXT: .text(text(column))
        case SQLITE_BLOB: .blob(blob(column))
        default: .null
        }
    }

    deinit { sqlite3_finalize(handle) }
}

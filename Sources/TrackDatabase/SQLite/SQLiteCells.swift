import CSQLite

/// Texts or blobs of one column by the numbers of their rows. Its cursor stays open, so that a lookup needs no
/// statement.
///
/// It keeps the state of the database at its first lookup: it must not outlive the transaction.
final class SQLiteCells {
    private unowned let database: SQLiteDatabase
    private let table: String
    private let column: String
    /// The blob of the last row; nil: there is none.
    private var handle: OpaquePointer?

    /// Cells of a table, none read yet.
    init(_ database: SQLiteDatabase, table: String, column: String) {
        self.database = database
        self.table = table
        self.column = column
    }

    /// Passes the bytes of a row to `body`; false: there is no such row, or it has neither text nor blob.
    func withBytes(of row: Int64, _ body: (UnsafeRawBufferPointer) -> Void) throws(TrackDatabaseError) -> Bool {
        guard try look(at: row) else { return false }
        let count = sqlite3_blob_bytes(handle)
        var result = SQLITE_OK
        withUnsafeTemporaryAllocation(byteCount: max(1, Int(count)), alignment: 1) { room in
            if count > 0 { result = sqlite3_blob_read(handle, room.baseAddress, count, 0) }
            if result == SQLITE_OK { body(UnsafeRawBufferPointer(rebasing: room[..<Int(count)])) }
        }
        guard result == SQLITE_OK else { throw database.failure(result) }
        return true
    }

    private func look(at row: Int64) throws(TrackDatabaseError) -> Bool {
        let result =
            handle == nil ? database.open(table, column, row, &handle) : sqlite3_blob_reopen(handle, row)
        if result == SQLITE_OK { return true }
        // After the error, the cursor is unusable.
        close()
        // There is no such row, or its value has no bytes.
        if result == SQLITE_ERROR { return false }
        throw database.failure(result)
    }

    private func close() {
        if let handle { sqlite3_blob_close(handle) }
        handle = nil
    }

    deinit { close() }
}

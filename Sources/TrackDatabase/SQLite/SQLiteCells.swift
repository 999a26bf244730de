import CSQLite

/// Texts or blobs of one column by the numbers of their rows. Its cursor stays open, so that a look costs no statement.
///
/// It keeps the database as it is at its first look: it must not outlive the transaction.
final class SQLiteCells {
    private unowned let database: SQLiteDatabase
    private let table: String
    private let column: String
    /// The row that was looked at last; nil: none was, or there was none.
    private var handle: OpaquePointer?

    /// Cells of a table, none of them read.
    init(_ database: SQLiteDatabase, table: String, column: String) {
        self.database = database
        self.table = table
        self.column = column
    }

    /// Lends the bytes of a row; false: there is no such row, or it holds neither text nor blob.
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
        // It leads to no other row after that.
        close()
        // There is no row, or none with bytes.
        if result == SQLITE_ERROR { return false }
        throw database.failure(result)
    }

    private func close() {
        if let handle { sqlite3_blob_close(handle) }
        handle = nil
    }

    deinit { close() }
}

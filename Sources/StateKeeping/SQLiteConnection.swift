import Glibc

/// One open database. Used by one thread at a time; every call may block.
final class SQLiteConnection: @unchecked Sendable {
    // @unchecked: its owner holds a lock while it is used, and SQLite serializes (SQLITE_OPEN_FULLMUTEX).

    /// An error of SQLite.
    struct Failure: Error, Equatable {
        /// Its result code, with what is added to it (sqlite.org/rescode.html).
        var code: Int32

        var isDamage: Bool { SQLiteLibrary.damaged.contains(code & 0xFF) }
        var isUnwritable: Bool { SQLiteLibrary.unwritable.contains(code & 0xFF) }
    }

    /// Value for a parameter of a statement.
    enum Value {
        case text(String)
        case number(Double?)
    }

    private let library: SQLiteLibrary
    private let handle: SQLiteLibrary.Handle

    /// Opens a file, which is made if need be and is its owner's alone, or (`isReadOnly`) one on a disk that nobody writes to,
    /// by its URI.
    init(_ library: SQLiteLibrary, _ name: String, isReadOnly: Bool = false) throws(Failure) {
        var handle: SQLiteLibrary.Handle?
        let result = library.open(
            name, &handle, isReadOnly ? SQLiteLibrary.readFlags : SQLiteLibrary.openFlags, nil)
        guard result == SQLiteLibrary.ok, let handle else {
            _ = library.close(handle)
            throw Failure(code: result == SQLiteLibrary.ok ? 7 : result)
        }
        self.library = library
        self.handle = handle
    }

    /// Carries out statements that answer nothing.
    func execute(_ text: String) throws(Failure) {
        let result = library.execute(handle, text, nil, nil, nil)
        guard result == SQLiteLibrary.ok else { throw Failure(code: result) }
    }

    /// Carries out one statement; the numbers of the first row of its answer, none if it has no row.
    func row(_ text: String, _ values: [Value] = [], columns: Int32 = 0) throws(Failure) -> [Double?] {
        var statement: SQLiteLibrary.Handle?
        let prepared = library.prepare(handle, text, -1, &statement, nil)
        guard prepared == SQLiteLibrary.ok, let statement else { throw Failure(code: prepared) }
        defer { _ = library.finalize(statement) }
        for (index, value) in values.enumerated() {
            let parameter = Int32(index + 1)
            switch value {
            case .text(let text): _ = library.bindText(statement, parameter, text, -1, SQLiteLibrary.transient)
            case .number(let number?): _ = library.bindDouble(statement, parameter, number)
            case .number(nil): _ = library.bindNull(statement, parameter)
            }
        }
        let stepped = library.step(statement)
        guard stepped != SQLiteLibrary.done else { return [] }
        guard stepped == SQLiteLibrary.row else { throw Failure(code: stepped) }
        return (0..<columns).map { column in
            library.columnType(statement, column) == SQLiteLibrary.null
                ? nil : library.columnDouble(statement, column)
        }
    }

    deinit { _ = library.close(handle) }
}

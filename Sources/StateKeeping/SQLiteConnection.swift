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

    /// Value for a parameter of a statement, or of a column of its answer.
    enum Value: Equatable {
        case text(String)
        case number(Double?)

        /// The number; nil: it is NULL or text.
        var number: Double? { if case .number(let number) = self { number } else { nil } }

        /// The text; nil: it is no text.
        var text: String? { if case .text(let text) = self { text } else { nil } }
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
        try rows(text, values, columns: columns, limit: 1).first.map { $0.map(\.number) } ?? []
    }

    /// Carries out one statement; the first rows of its answer, at most `limit`.
    func rows(_ text: String, _ values: [Value] = [], columns: Int32, limit: Int) throws(Failure) -> [[Value]] {
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
        var result: [[Value]] = []
        while result.count < limit {
            let stepped = library.step(statement)
            guard stepped != SQLiteLibrary.done else { break }
            guard stepped == SQLiteLibrary.row else { throw Failure(code: stepped) }
            result.append((0..<columns).map { value(statement, $0) })
        }
        return result
    }

    private func value(_ statement: SQLiteLibrary.Handle, _ column: Int32) -> Value {
        switch library.columnType(statement, column) {
        case SQLiteLibrary.null: .number(nil)
        case SQLiteLibrary.text: .text(library.columnText(statement, column).map { String(cString: $0) } ?? "")
        default: .number(library.columnDouble(statement, column))
        }
    }

    /// Carries out all of `body` or nothing of it.
    func transaction<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        try execute("BEGIN IMMEDIATE")
        do throws(Failure) {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // SQLite has undone it already where the disk failed.
            try? execute("ROLLBACK")
            throw error
        }
    }

    deinit { _ = library.close(handle) }
}

import Glibc

/// One open database. Used by one thread at a time; every call may block.
final class SQLiteConnection: @unchecked Sendable {
    // @unchecked: its owner holds a lock while it is used, and SQLite serializes (SQLITE_OPEN_FULLMUTEX).

    /// An error of SQLite.
    struct Failure: Error, Equatable {
        /// Its extended result code (sqlite.org/rescode.html).
        var code: Int32

        var isDamage: Bool { SQLiteLibrary.damaged.contains(code & 0xFF) }
        var isUnwritable: Bool { SQLiteLibrary.unwritable.contains(code & 0xFF) }
    }

    /// Value of a parameter of a statement, or of a column of its result.
    enum Value: Equatable {
        case text(String)
        case number(Double?)

        /// The number; nil: it is NULL or text.
        var number: Double? { if case .number(let number) = self { number } else { nil } }

        /// The text; nil: it is not text.
        var text: String? { if case .text(let text) = self { text } else { nil } }
    }

    private let library: SQLiteLibrary
    private let handle: SQLiteLibrary.Handle

    /// Opens a file by its name; creates it if necessary, for its owner alone. `isReadOnly`: opens a file by its URI,
    /// on a disk that no program writes to.
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

    /// Runs statements without results.
    func execute(_ text: String) throws(Failure) {
        let result = library.execute(handle, text, nil, nil, nil)
        guard result == SQLiteLibrary.ok else { throw Failure(code: result) }
    }

    /// Runs one statement; returns the numbers of the first row, or an empty array.
    func row(_ text: String, _ values: [Value] = [], columns: Int32 = 0) throws(Failure) -> [Double?] {
        try rows(text, values, columns: columns, limit: 1).first.map { $0.map(\.number) } ?? []
    }

    /// Runs one statement; returns its first rows, at most `limit`.
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

    /// Applies all of `body` or nothing of it.
    func transaction<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        try execute("BEGIN IMMEDIATE")
        do throws(Failure) {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // After a failed write, SQLite may have rolled back already.
            try? execute("ROLLBACK")
            throw error
        }
    }

    deinit { _ = library.close(handle) }
}

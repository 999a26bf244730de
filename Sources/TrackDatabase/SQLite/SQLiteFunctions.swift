import CSQLite

/// Our functions for statements. The schema uses none of them, so any program can read the database.
enum SQLiteFunctions {
    /// `fold(text)`: the folded text, also of a blob; NULL of NULL.
    /// `capitalized(folded)`, `spelling(text)`: see `SpellingMark`.
    /// `holds(id, set)`, `holdsAny(values, set)`: 1 if the number, or a number in the packed values, is in the set.
    /// `firstOf(values, tag)`: the first value of the tag in packed values, or NULL.
    /// `unpacked(values)`: the numbers in packed values as a JSON array.
    /// `matches(text, pattern)`: 1 if text, folded, matches a folded pattern with `*` and `?`.
    /// `shuffled(id, seed, bits)`: the position of a number in a shuffled order.
    static func register(_ handle: OpaquePointer) {
        add(handle, "fold", 1) { context, _, values in
            guard sqlite3_value_type(values![0]) != SQLITE_NULL else { return sqlite3_result_null(context) }
            SQLiteFunctions.result(context, Folding.fold(SQLiteFunctions.text(values![0])))
        }
        add(handle, "capitalized", 1) { context, _, values in
            SQLiteFunctions.result(context, SpellingMark.capitalized(SQLiteFunctions.text(values![0])))
        }
        add(handle, "spelling", 1) { context, _, values in
            guard sqlite3_value_type(values![0]) != SQLITE_NULL else { return sqlite3_result_null(context) }
            let text = SQLiteFunctions.text(values![0])
            SQLiteFunctions.result(context, SpellingMark.mark(text, Folding.fold(text)))
        }
        add(handle, "holds", 2) { context, _, values in
            let isIn = SQLiteFunctions.set(values![1])?.contains(sqlite3_value_int64(values![0]))
            sqlite3_result_int(context, isIn == true ? 1 : 0)
        }
        add(handle, "holdsAny", 2) { context, _, values in
            guard let set = SQLiteFunctions.set(values![1]) else { return sqlite3_result_int(context, 0) }
            let isIn = SQLiteFunctions.packed(values![0]) { $0.contains { set.contains($0.value) } }
            sqlite3_result_int(context, isIn ? 1 : 0)
        }
        add(handle, "firstOf", 2) { context, _, values in
            let tag = sqlite3_value_int64(values![1])
            let first = SQLiteFunctions.packed(values![0]) { $0.first { Int64($0.tag) == tag } }
            if let first { sqlite3_result_int64(context, first.value) } else { sqlite3_result_null(context) }
        }
        add(handle, "unpacked", 1) { context, _, values in
            let ids = SQLiteFunctions.packed(values![0]) { $0.map { String($0.value) } }
            SQLiteFunctions.result(context, "[" + ids.joined(separator: ",") + "]")
        }
        add(handle, "matches", 2) { context, _, values in
            let text = Folding.fold(SQLiteFunctions.text(values![0]))
            let isMatch = TextPattern(folded: SQLiteFunctions.text(values![1])).matches(text)
            sqlite3_result_int(context, isMatch ? 1 : 0)
        }
        add(handle, "shuffled", 3) { context, _, values in
            let order = ShuffledOrder(
                seed: UInt64(bitPattern: sqlite3_value_int64(values![1])), bits: sqlite3_value_int64(values![2]))
            sqlite3_result_int64(context, order.place(of: sqlite3_value_int64(values![0])))
        }
    }

    /// `counted(value)`: the value; each call counts as a row of this progress, which must outlive
    /// the connection.
    static func register(_ handle: OpaquePointer, _ progress: UpgradeProgress) {
        let context = Unmanaged.passUnretained(progress).toOpaque()
        sqlite3_create_function_v2(
            handle, "counted", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, context,
            { context, _, values in
                Unmanaged<UpgradeProgress>.fromOpaque(sqlite3_user_data(context)!).takeUnretainedValue().count()
                sqlite3_result_value(context, values![0])
            }, nil, nil, nil)
    }

    private typealias Function =
        @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    private static func add(_ handle: OpaquePointer, _ name: String, _ count: Int32, _ function: @escaping Function) {
        sqlite3_create_function_v2(
            handle, name, count, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nil, function, nil, nil, nil)
    }

    private static func set(_ value: OpaquePointer?) -> IdSet? {
        sqlite3_value_pointer(value, IdSet.kind).map { Unmanaged<IdSet>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func text(_ value: OpaquePointer?) -> String {
        guard let start = sqlite3_value_blob(value) else { return "" }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func packed<Result>(_ value: OpaquePointer?, _ body: (PackedValues) -> Result) -> Result {
        let count = Int(sqlite3_value_bytes(value))
        return body(PackedValues(UnsafeRawBufferPointer(start: sqlite3_value_blob(value), count: count)))
    }

    private static func result(_ context: OpaquePointer?, _ text: String) {
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_result_text64(
                    context, $0.baseAddress, UInt64($0.count), SQLiteDatabase.transient, UInt8(SQLITE_UTF8))
            }
        }
    }
}

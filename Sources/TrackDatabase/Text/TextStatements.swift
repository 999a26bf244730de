/// Statements that a writer of text asks for each track: it looks them up once for a page.
struct TextStatements {
    private let values: SQLiteStatement
    private let sets: SQLiteStatement

    /// The statements of a database.
    init(_ database: SQLiteDatabase) throws(TrackDatabaseError) {
        values = try database.statement("SELECT text FROM value WHERE id = ?1")
        sets = try database.statement("SELECT packed FROM tagset WHERE id = ?1")
    }

    /// Lends the packed values of a set of tags.
    func withPacked(ofSet id: Int64, _ body: (UnsafeRawBufferPointer) -> Void) throws(TrackDatabaseError) {
        defer { sets.reset() }
        if try sets.first(id) { sets.withBytes(0, body) }
    }

    /// Writes the text of a value.
    func write(_ id: Int64, _ output: inout LineBytes) throws(TrackDatabaseError) {
        defer { values.reset() }
        if try values.first(id) { values.withBytes(0) { output.text($0) } }
    }
}

/// Texts and sets of tags that `TrackTextWriter` reads for each track, within a query.
struct TextCells {
    private let values: SQLiteCells
    /// Titles are often consecutive: their cursor moves from one to the next.
    private let titles: SQLiteCells
    private let sets: SQLiteCells

    /// The cells of a database.
    init(_ database: SQLiteDatabase) {
        values = SQLiteCells(database, table: "value", column: "text")
        titles = SQLiteCells(database, table: "value", column: "text")
        sets = SQLiteCells(database, table: "tagset", column: "packed")
    }

    /// Passes the packed values of a set of tags to `body`.
    func withPacked(ofSet id: Int64, _ body: (UnsafeRawBufferPointer) -> Void) throws(TrackDatabaseError) {
        _ = try sets.withBytes(of: id, body)
    }

    /// Writes the text of a value.
    func write(_ id: Int64, _ output: inout LineBytes) throws(TrackDatabaseError) {
        _ = try values.withBytes(of: id) { output.text($0) }
    }

    /// Writes the text of a title.
    func write(title id: Int64, _ output: inout LineBytes) throws(TrackDatabaseError) {
        _ = try titles.withBytes(of: id) { output.text($0) }
    }
}

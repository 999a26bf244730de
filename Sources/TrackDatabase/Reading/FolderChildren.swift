/// The folders directly in a folder, in the order of their names. The index has all paths in order; the paths below a
/// child are skipped, so each child costs two index lookups.
struct FolderChildren {
    /// A child folder.
    struct Child {
        /// Number of the folder.
        var id: Int64
        var path: [UInt8]
        var name: [UInt8]
    }

    private let database: SQLiteDatabase
    private let beginning: [UInt8]
    /// The least path after the last child.
    private var least: [UInt8]

    private static let slash = UInt8(ascii: "/")

    /// The folders in `folder` whose names follow `name`; empty: from the top.
    init(_ database: SQLiteDatabase, in folder: [UInt8], after name: [UInt8] = []) {
        self.database = database
        beginning = folder.isEmpty ? [] : folder + [Self.slash]
        // No name contains a zero.
        least = beginning + name + [0]
    }

    /// The next child; nil: there is none.
    mutating func next() throws(TrackDatabaseError) -> Child? {
        let statement = try database.statement("SELECT id, path FROM folder WHERE path >= ?1 ORDER BY path LIMIT 1")
        defer { statement.reset() }
        while true {
            statement.reset()
            guard try statement.bind([.blob(least)]).step() else { return nil }
            let path = statement.blob(1)
            guard !path.lexicographicallyPrecedes(least) else { throw .damaged("paths of folders are out of order") }
            guard path.starts(with: beginning) else { return nil }
            let name = path[beginning.count...]
            if let end = name.firstIndex(of: Self.slash) {
                // Below an earlier child. A zero follows the slash.
                least = path[..<end] + [Self.slash + 1]
            } else {
                least = path + [0]
                return Child(id: statement.integer(0), path: path, name: Array(name))
            }
        }
    }
}

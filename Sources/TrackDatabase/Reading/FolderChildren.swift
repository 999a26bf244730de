/// Folders that lie in a folder itself, in the order of their names. They are found in the order of all paths: what lies below
/// one of them is passed over, so each costs two looks into the index.
struct FolderChildren {
    /// A folder in it.
    struct Child {
        /// Number of the folder.
        var id: Int64
        var path: [UInt8]
        var name: [UInt8]
    }

    private let database: SQLiteDatabase
    private let beginning: [UInt8]
    /// The least path that follows the last one.
    private var least: [UInt8]

    private static let slash = UInt8(ascii: "/")

    /// The folders in `folder`, from the top if it is empty, whose names follow `name`.
    init(_ database: SQLiteDatabase, in folder: [UInt8], after name: [UInt8] = []) {
        self.database = database
        beginning = folder.isEmpty ? [] : folder + [Self.slash]
        // No name has a zero.
        least = beginning + name + [0]
    }

    /// The next one; nil: there is none.
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
                // Below a folder that came before. A zero follows the slash.
                least = path[..<end] + [Self.slash + 1]
            } else {
                least = path + [0]
                return Child(id: statement.integer(0), path: path, name: Array(name))
            }
        }
    }
}

import TestLibraries
import Testing
import TrackDatabase

/// Pages of folders with very many files.
@Suite struct BigFolderTests {
    @Test("a walk of a big folder has each track once, in the order of the paths", arguments: [1, 7, 500])
    func walk(limit: Int) throws {
        let folder = TestFolder()
        let database = try TrackDatabase(path: folder.file("t.db"))
        // Names of all lengths around the same beginnings, and folders whose paths begin alike.
        let counts = ["Music": 2, "Music/a": 30, "Music/a!": 3, "Music/big": 2100, "Music/big/deep": 40, "Music/z": 5]
        let paths = counts.flatMap { folder, count in
            (0..<count).map { "\(folder)/\($0)\($0 % 3 == 0 ? "" : String(repeating: "x", count: $0 % 5))" }
        }
        try database.writer().batch { batch throws(TrackDatabaseError) in
            for path in paths { try batch.put(TrackRecord(path: TrackPath(path)), added: 0) }
        }
        let reader = try database.reader()
        for below in [nil, "Music/big", "Music/a", "Music"] as [String?] {
            for isFalling in [false, true] where limit > 1 || below == "Music/a" {
                let filter = below.map { TrackFilter.test(.path(.folder), .below(Array($0.utf8))) }
                var found: [TrackPath] = []
                var after: String?
                repeat {
                    let sort = TrackSort.keys([SortKey(.uri, isFalling: isFalling)])
                    let page = try reader.query(TrackQuery(filter: filter, sort: sort, limit: limit, after: after))
                    found += page.rows.map(\.record.path)
                    after = page.next
                } while after != nil
                let wanted = paths.map { TrackPath($0) }.filter { path in
                    guard let below else { return true }
                    return path.folder == Array(below.utf8) || path.folder.starts(with: Array("\(below)/".utf8))
                }.sorted { one, other in
                    let (left, right) = isFalling ? (other, one) : (one, other)
                    if left.folder == right.folder { return left.name.lexicographicallyPrecedes(right.name) }
                    return left.folder.lexicographicallyPrecedes(right.folder)
                }
                #expect(found == wanted, "\(below ?? "all"), \(isFalling)")
            }
        }
    }
}

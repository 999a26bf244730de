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

    /// Portions of SQLite's steps for a walk of a folder with so many files, in pages of 40.
    private func portions(_ files: Int, _ page: (TrackReader, String?) throws -> String?) throws -> Int {
        let folder = TestFolder()
        let database = try TrackDatabase(path: folder.file("t.db"))
        try database.writer().batch { batch throws(TrackDatabaseError) in
            for number in 0..<files { try batch.put(TrackRecord(path: TrackPath("Music/big/\(number)")), added: 0) }
            for number in 0..<50 { try batch.put(TrackRecord(path: TrackPath("Music/other/\(number)")), added: 0) }
        }
        let reader = try database.reader()
        var pages = 1
        var after = try page(reader, nil)
        while after != nil {
            after = try page(reader, after)
            pages += 1
        }
        #expect(pages >= files / 40)
        return reader.portions
    }

    @Test("a walk of a big folder does not count its files for each page") func linear() throws {
        for test in [FilterTest.below(Array("Music/big".utf8)), .is("Music/big"), .contains("ig")] {
            func page(_ reader: TrackReader, _ after: String?) throws -> String? {
                let query = TrackQuery(
                    filter: .test(.path(.folder), test), sort: .keys([SortKey(.uri)]), limit: 40, after: after)
                return try reader.query(query).next
            }
            let (few, many) = (try portions(4000, page), try portions(8000, page))
            #expect(few > 0 && many < 3 * few, "\(test): \(few) and \(many)")
        }
    }

    @Test("the listing of a big folder reads each file once") func listing() throws {
        func page(_ reader: TrackReader, _ after: String?) throws -> String? {
            try reader.browse(Array("Music/big".utf8), limit: 40, after: after)?.next
        }
        let (few, many) = (try portions(4000, page), try portions(8000, page))
        #expect(few > 0 && many < 3 * few, "\(few) and \(many)")
    }

    @Test("a walk that begins while the folder fills has each track once") func filling() throws {
        let folder = TestFolder()
        let database = try TrackDatabase(path: folder.file("t.db"))
        let writer = try database.writer()
        let reader = try database.reader()
        var added = 0
        func add(_ count: Int) throws {
            try writer.batch { batch throws(TrackDatabaseError) in
                for number in added..<added + count {
                    try batch.put(TrackRecord(path: TrackPath("Music/big/\(1_000_000 + number)")), added: 0)
                }
            }
            added += count
        }
        // Plans change on the way, as the folder has more files than each page sorts from some page on.
        try add(10)
        var found: [TrackPath] = []
        var after: String?
        repeat {
            let query = TrackQuery(
                filter: .test(.path(.folder), .below(Array("Music/big".utf8))), sort: .keys([SortKey(.uri)]), limit: 5,
                after: after)
            let page = try reader.query(query)
            found += page.rows.map(\.record.path)
            after = page.next
            if added < 6000 { try add(400) }
        } while after != nil
        #expect(found == (0..<added).map { TrackPath("Music/big/\(1_000_000 + $0)") })
    }
}

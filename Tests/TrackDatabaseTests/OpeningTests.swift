import Glibc
import TestLibraries
import TestSupport
import Testing
import TrackDatabase

@Suite struct OpeningTests {
    @Test func setsADamagedFileAside() throws {
        let folder = TestFolder()
        let path = folder.file("library.db")
        let file = try #require(fopen(path, "w"))
        fputs(String(repeating: "This is no database. ", count: 500), file)
        fclose(file)
        let database = try TrackDatabase(path: path)
        guard case .remade(let message) = database.opening else {
            Issue.record("not set aside: \(database.opening)")
            return
        }
        #expect(message.contains(path + ".damaged") && access(path + ".damaged", F_OK) == 0)
        #expect(try database.reader().summary().tracks == 0)
        #expect(try TrackDatabase(path: path).opening == .asItWas)
    }

    @Test func refusesANewerVersionInWords() throws {
        let folder = TestFolder()
        let path = folder.file("library.db")
        _ = try TrackDatabase(path: path)
        try Self.write(path, at: 60, [0, 0, 0, 99])
        let error = #expect(throws: TrackDatabaseError.self) { try TrackDatabase(path: path) }
        #expect(error == .newerVersion(found: 99, known: 5))
        #expect(error?.message.contains("version 99") == true && error?.message.contains("newer program") == true)
    }

    @Test func refusesADatabaseOfAnotherProgram() throws {
        let folder = TestFolder()
        let path = folder.file("library.db")
        _ = try TrackDatabase(path: path)
        try Self.write(path, at: 68, [1, 2, 3, 4])
        #expect(throws: TrackDatabaseError.foreign) { try TrackDatabase(path: path) }
    }

    /// All rows of the tables that version 4 made anew, as text.
    private static func rows(_ path: String) -> [String] {
        SQLiteCheck.rows(
            path,
            "SELECT tag || '|' || folded || '|' || spelling || '|' || id || '|' || tracks || '|' || duration FROM ordered"
        )
            + SQLiteCheck.rows(path, "SELECT id || '|' || hash || '|' || hex(packed) || '|' || tracks FROM tagset")
    }

    @Test("a database of an earlier version is brought up to date, and all in it is found", arguments: [1, 2, 3])
    func oldVersion(version: Int) throws {
        let folder = TestFolder()
        let path = folder.file("library.db")
        let places = ["r/a/x/1", "r/a/2", "r/a!/3", "r/a b/c/d/4", "r/b/5", "s/6"]
        let names = ["Miles Davis", "k.d. lang", "Björk", "MILES DAVIS", "1984", "miles davis"]
        func put(_ batch: TrackBatch) throws(TrackDatabaseError) {
            for (place, name) in zip(places, names) {
                var record = TrackRecord(path: TrackPath(place))
                record.tags = [.artist: [name], .title: ["Of \(name)"]]
                _ = try batch.put(record, added: 1)
            }
        }
        try TrackDatabase(path: path).writer().batch(put)
        let made = Self.rows(path)
        EarlierDatabase.make(version, path)
        #expect(SQLiteCheck.rows(path, "SELECT text FROM ordered WHERE folded = 'bjork'") == ["Björk"])
        let tables = SQLiteCheck.rows(path, "SELECT sql FROM sqlite_master ORDER BY name")
        let earlier = try #require(TrackDatabase.earlier(path: path))
        #expect(earlier.tables == version && earlier.summary.tracks == 6)
        // Work that is ended in the middle leaves the file as it was.
        let ended = UpgradeProgress()
        ended.abandon()
        #expect(throws: TrackDatabaseError.self) { try TrackDatabase(path: path, progress: ended) }
        #expect(SQLiteCheck.rows(path, "SELECT sql FROM sqlite_master ORDER BY name") == tables)
        let progress = UpgradeProgress()
        let database = try TrackDatabase(path: path, progress: progress)
        #expect(progress.total > 0 && progress.done == progress.total)
        #expect(TrackDatabase.earlier(path: path) == nil)
        #expect(database.opening == .asItWas && SQLiteCheck.rows(path, "PRAGMA user_version") == ["5"])
        #expect(SQLiteCheck.words(path) == ["ok"])
        #expect(Self.rows(path) == made)
        let reader = try database.reader()
        let children = [
            "": ["r", "s"], "r": ["a", "a b", "a!", "b"], "r/a": ["x"], "r/a b": ["c"], "r/b": [], "q": [],
        ]
        for (place, names) in children {
            #expect(try reader.scan.folders(in: Array(place.utf8)) == names.map { Array($0.utf8) }, "in “\(place)”")
        }
        for place in places { #expect(try reader.track(at: TrackPath(place)) != nil) }
        for name in names { #expect(try reader.count(.test(.tag(.artist), .is(name))).tracks == 1) }
        #expect(Set(try reader.values(ValuesQuery(tag: .artist)).rows.map(\.value)) == Set(names))
        // The same files again are the same rows.
        try database.writer().batch(put)
        #expect(Self.rows(path) == made)
        reader.show([Array("r".utf8)])
        #expect(try reader.count(nil).tracks == 5)
    }

    /// A child that is killed in the middle of a batch leaves the whole batches before it.
    @Test(arguments: [0, 1, 5]) func aKilledWriterLeavesWholeBatches(batches: Int) throws {
        let folder = TestFolder()
        let path = folder.file("library.db")
        let program = try #require(Self.built("TestLibraryWriter"))
        let child = TestProcess([program, path, "\(batches)"], output: true)
        var line = [UInt8](repeating: 0, count: 13)
        #expect(read(child.output, &line, line.count) == line.count)
        child.end()
        let database = try TrackDatabase(path: path)
        #expect(database.opening == .asItWas)
        let reader = try database.reader()
        #expect(try reader.summary().tracks == Int64(batches * 40))
        #expect(try reader.summary().version == Int64(batches))
        #expect(try reader.query(TrackQuery(limit: 10_000)).rows.count == batches * 40)
        // And a new writer goes on.
        let writer = try database.writer()
        try writer.batch { batch throws(TrackDatabaseError) in
            _ = try batch.put(TrackRecord(path: TrackPath("a/b")), added: 1)
        }
        #expect(try reader.summary().tracks == Int64(batches * 40 + 1))
    }

    /// The path of a program of this build.
    private static func built(_ name: String) -> String? {
        for candidate in CommandLine.arguments + ["/proc/self/exe"] {
            var buffer = [CChar](repeating: 0, count: 4096)
            let path = realpath(candidate, &buffer).map { String(cString: $0) } ?? candidate
            guard let range = path.firstRange(of: "/debug/") ?? path.firstRange(of: "/release/") else { continue }
            let program = path[..<range.upperBound] + name
            if access(String(program), X_OK) == 0 { return String(program) }
        }
        return nil
    }

    private static func write(_ path: String, at offset: Int, _ bytes: [UInt8]) throws {
        let file = open(path, O_WRONLY)
        #expect(file >= 0 && pwrite(file, bytes, bytes.count, offset) == bytes.count)
        close(file)
    }
}

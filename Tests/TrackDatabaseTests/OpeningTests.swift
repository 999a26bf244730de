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
        #expect(error == .newerVersion(found: 99, known: 4))
        #expect(error?.message.contains("version 99") == true && error?.message.contains("newer program") == true)
    }

    @Test func refusesADatabaseOfAnotherProgram() throws {
        let folder = TestFolder()
        let path = folder.file("library.db")
        _ = try TrackDatabase(path: path)
        try Self.write(path, at: 68, [1, 2, 3, 4])
        #expect(throws: TrackDatabaseError.foreign) { try TrackDatabase(path: path) }
    }

    /// Statements that make a database of this version into one of version 3.
    private static let undoFourth = [
        """
        CREATE TABLE old(
            tag INTEGER NOT NULL, folded TEXT NOT NULL, text TEXT NOT NULL, id INTEGER NOT NULL,
            tracks INTEGER NOT NULL, duration INTEGER NOT NULL, PRIMARY KEY(tag, folded, text)) WITHOUT ROWID
        """,
        """
        INSERT INTO old SELECT tag, folded, (SELECT text FROM value WHERE id = o.id), id, tracks, duration FROM ordered o
        """,
        "DROP TABLE ordered", "ALTER TABLE old RENAME TO ordered", "UPDATE tagset SET hash = hash << 24 | 4711",
        "PRAGMA user_version = 3",
    ]

    /// Statements that make one of version 3 into one of version 1.
    private static let undoSecond = [
        "ALTER TABLE folder ADD COLUMN parent INTEGER",
        "ALTER TABLE folder ADD COLUMN name BLOB NOT NULL DEFAULT x''",
        "UPDATE folder SET name = CAST(id AS BLOB), parent = id",
        "CREATE UNIQUE INDEX folder_child ON folder(parent, name)",
        "DROP TABLE placement", "PRAGMA user_version = 1",
    ]

    /// All rows of the tables that version 4 made anew, as text.
    private static func rows(_ path: String) -> [String] {
        SQLiteCheck.rows(
            path,
            "SELECT tag || '|' || folded || '|' || spelling || '|' || id || '|' || tracks || '|' || duration FROM ordered"
        )
            + SQLiteCheck.rows(path, "SELECT id || '|' || hash || '|' || hex(packed) || '|' || tracks FROM tagset")
    }

    @Test("a database of an earlier version is brought up to date, and all in it is found", arguments: [1, 3])
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
        for statement in Self.undoFourth + (version < 3 ? Self.undoSecond : []) { SQLiteCheck.rows(path, statement) }
        #expect(SQLiteCheck.rows(path, "PRAGMA user_version") == ["\(version)"])
        #expect(SQLiteCheck.rows(path, "SELECT text FROM ordered WHERE folded = 'bjork'") == ["Björk"])
        let database = try TrackDatabase(path: path)
        #expect(database.opening == .asItWas && SQLiteCheck.rows(path, "PRAGMA user_version") == ["4"])
        #expect(SQLiteCheck.words(path) == ["ok"])
        #expect(Self.rows(path) == made)
        let reader = try database.reader()
        let children = [
            "": ["r", "s"], "r": ["a", "a b", "a!", "b"], "r/a": ["x"], "r/a b": ["c"], "r/b": [], "q": [],
        ]
        for (place, names) in children {
            #expect(try reader.folders(in: Array(place.utf8)) == names.map { Array($0.utf8) }, "in “\(place)”")
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

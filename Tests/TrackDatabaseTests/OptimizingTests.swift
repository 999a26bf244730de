import TestLibraries
import TestSupport
import Testing
import TrackDatabase

/// The work that makes questions fast after many changes.
@Suite struct OptimizingTests {
    private let folder = TestFolder()

    @Test("there are no statistics of sets of tags, with which SQLite would look at all of them before the first row")
    func statistics() throws {
        let database = try TrackDatabase(path: folder.file("db"))
        let writer = try database.writer()
        try writer.batch { batch throws(TrackDatabaseError) in
            for number in 0..<50 {
                var record = TrackRecord(path: TrackPath("r/\(number)"))
                record.tags[.artist] = ["\(number)"]
                try batch.put(record, added: 1)
            }
        }
        try writer.optimize()
        let tables = SQLiteCheck.rows(database.path, "SELECT DISTINCT tbl FROM sqlite_stat1")
        #expect(tables.contains("track") && tables.contains("value") && !tables.contains("tagset"))
    }

    @Test func itIsDoneAfterManyNewTracksAndEndsWhenItIsNotWanted() throws {
        let database = try TrackDatabase(path: folder.file("db"))
        let writer = try database.writer()
        var made = 0
        func add(_ count: Int) throws {
            let range = made..<made + count
            made += count
            try writer.batch { batch throws(TrackDatabaseError) in
                for number in range { try batch.put(TrackRecord(path: TrackPath("r/\(number)")), added: 1) }
            }
        }
        let mark = "optimized"
        let reader = try database.reader()
        try add(999)
        try writer.optimizeIfLarge { true }
        #expect(try reader.number(for: mark) == nil)
        try add(1)
        try writer.optimizeIfLarge { false }
        #expect(try reader.number(for: mark) == nil)
        nonisolated(unsafe) var questions = 0
        try writer.optimizeIfLarge {
            questions += 1
            return questions < 2
        }
        #expect(try reader.number(for: mark) == nil && questions > 1)
        try writer.optimizeIfLarge { true }
        #expect(try reader.number(for: mark) == 1000)
        try add(999)
        try writer.optimizeIfLarge { true }
        #expect(try reader.number(for: mark) == 1000)
        try add(1)
        try writer.optimizeIfLarge { true }
        #expect(try reader.number(for: mark) == 2000)
        #expect(try reader.summary().tracks == 2000)
    }
}

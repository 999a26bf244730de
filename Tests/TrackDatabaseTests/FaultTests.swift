import TestLibraries
import Testing
import TrackDatabase

@Suite struct FaultTests {
    @Test func faultsAreKeptReplacedAndCleared() throws {
        let library = TestFolder()
        let database = try TrackDatabase(path: library.file("library.db"))
        let writer = try database.writer()
        let reader = try database.reader()
        var faults = ["a/b", "a/c", "a/d/e", "ab/f", "g"].enumerated().map { index, path in
            TrackFault(
                path: TrackPath(path), file: TrackFile(size: Int64(index), modified: 7, inode: 8), reason: "r\(index)",
                at: Double(100 + index))
        }
        faults[4].path.name = [0xFF, 0x27]
        let all = faults
        try writer.batch { batch throws(TrackDatabaseError) in for fault in all { try batch.putFault(fault) } }
        #expect(try reader.faults() == all.reversed())
        #expect(try reader.faults(limit: 2) == [all[4], all[3]])
        #expect(try reader.faultCount() == 5)
        #expect(try reader.faults(in: Array("a".utf8)) == [Array("b".utf8): all[0], Array("c".utf8): all[1]])
        var changed = all[0]
        changed.reason = "other"
        let again = changed
        let version = writer.version
        try writer.batch { batch throws(TrackDatabaseError) in
            try batch.putFault(again)
            try batch.clearFault(at: all[4].path)
        }
        #expect(writer.version == version + 1)
        #expect(try reader.fault(at: again.path) == again)
        #expect(try reader.fault(at: all[4].path) == nil)
        try writer.batch { batch throws(TrackDatabaseError) in try batch.clearFaults(below: Array("a".utf8)) }
        #expect(try reader.faults() == [all[3]])
        try writer.batch { batch throws(TrackDatabaseError) in
            try batch.clearFaults(below: Array("x".utf8))
            try batch.clearFault(at: again.path)
        }
        #expect(writer.version == version + 2)
        try writer.batch { batch throws(TrackDatabaseError) in try batch.clearFaults(below: []) }
        #expect(try reader.faultCount() == 0)
    }

    @Test func numbersStayUnderTheirNames() throws {
        let library = TestFolder()
        let path = library.file("library.db")
        let writer = try TrackDatabase(path: path).writer()
        try writer.batch { batch throws(TrackDatabaseError) in
            #expect(try batch.number(for: "feedback") == nil)
            try batch.setNumber(7, for: "feedback")
            try batch.setNumber(-8, for: "version")
            #expect(try batch.number(for: "feedback") == 7)
        }
        #expect(writer.version == 0)
        let reader = try TrackDatabase(path: path).reader()
        #expect(try reader.number(for: "feedback") == 7)
        #expect(try reader.number(for: "version") == -8)
        #expect(try reader.summary().version == 0)
        try writer.batch { batch throws(TrackDatabaseError) in try batch.setNumber(nil, for: "feedback") }
        #expect(try reader.number(for: "feedback") == nil)
    }

    @Test func emptyFoldersGoWithTheirLastTrack() throws {
        let library = TestFolder()
        let database = try TrackDatabase(path: library.file("library.db"))
        let writer = try database.writer()
        let reader = try database.reader()
        let ids = try writer.batch { batch throws(TrackDatabaseError) in
            var ids: [Int64] = []
            for path in ["root/Deepest/inner/x", "root/Deepest/y", "root/Other/z"] {
                ids.append(try batch.put(TrackRecord(path: TrackPath(path)), added: 1))
            }
            return ids
        }
        #expect(try reader.search("deepest").map(\.text) == ["Deepest"])
        try writer.batch { batch throws(TrackDatabaseError) in try batch.remove(ids: [ids[0]]) }
        #expect(try reader.browse(Array("root/Deepest/inner".utf8)) == nil)
        #expect(try reader.search("inner").isEmpty)
        #expect(try reader.browse(Array("root/Deepest".utf8))?.rows.count == 1)
        try writer.batch { batch throws(TrackDatabaseError) in
            try batch.move(ids[1], to: TrackRecord(path: TrackPath("root/Other/y")))
        }
        #expect(try reader.browse(Array("root/Deepest".utf8)) == nil)
        #expect(try reader.search("deepest").isEmpty)
        // A folder that comes anew under a number of an old one has its own name.
        try writer.batch { batch throws(TrackDatabaseError) in
            _ = try batch.put(TrackRecord(path: TrackPath("root/New/x")), added: 1)
        }
        #expect(try reader.track(at: TrackPath("root/New/x"))?.record.path == TrackPath("root/New/x"))
        try writer.batch { batch throws(TrackDatabaseError) in
            try batch.remove(ids: Array(try reader.queryIds(TrackQuery()).rows))
        }
        #expect(try reader.browse([])?.rows == [])
        #expect(try reader.browse(Array("root".utf8)) == nil)
    }

    /// A reader that has read a text does not show it for a later text under the same number.
    @Test func textsOfRemovedRowsAreForgotten() throws {
        let library = TestFolder()
        let database = try TrackDatabase(path: library.file("library.db"))
        let writer = try database.writer()
        let reader = try database.reader()
        for round in 0..<5 {
            var record = TrackRecord(path: TrackPath("folder \(round)/x"))
            record.tags = [.artist: ["artist \(round)"], .title: ["title \(round)"]]
            let added = record
            let id = try writer.batch { batch throws(TrackDatabaseError) in try batch.put(added, added: 1) }
            #expect(try reader.track(id)?.record == record)
            try writer.batch { batch throws(TrackDatabaseError) in try batch.remove(ids: [id]) }
        }
    }
}

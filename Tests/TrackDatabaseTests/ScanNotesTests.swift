import TestLibraries
import Testing
import TrackDatabase

/// Questions and notes of scans.
@Suite struct ScanNotesTests {
    private let folder = TestFolder()

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func pagesOfFilesAreInTheOrderOfTheirBytes() throws {
        let database = try TrackDatabase(path: folder.file("db"))
        let writer = try database.writer()
        let reader = try database.reader()
        let names: [[UInt8]] = [[0x41], [0x41, 0xFF], [0x61], [0xC3, 0xA4], [0xFF, 0xFE]]
        try writer.batch { batch throws(TrackDatabaseError) in
            for name in names.reversed() {
                try batch.put(TrackRecord(path: TrackPath(folder: bytes("r/a"), name: name)), added: 1)
            }
            try batch.put(TrackRecord(path: TrackPath("r/b/x")), added: 1)
            try batch.put(TrackRecord(path: TrackPath("r0/y")), added: 1)
        }
        var found: [[UInt8]] = []
        while case let page = try reader.scan.files(in: bytes("r/a"), after: found.last ?? [], limit: 2), !page.isEmpty
        {
            found += page.map(\.name)
        }
        #expect(found == names)
        #expect(try reader.scan.folders(in: bytes("r")) == [bytes("a"), bytes("b")])
        #expect(try reader.scan.folders(in: []) == [bytes("r"), bytes("r0")])
        #expect(try reader.scan.presentTracks(below: bytes("r"), after: 0, limit: 100) == [1, 2, 3, 4, 5, 6])
        #expect(try reader.scan.presentTracks(below: bytes("r"), after: 4, limit: 1) == [5])
        #expect(try reader.scan.presentTracks(below: bytes("r/a"), after: 0, limit: 100) == [1, 2, 3, 4, 5])
        #expect(try reader.scan.path(of: 6) == TrackPath("r/b/x"))
        #expect(try reader.scan.path(of: 99) == nil)
    }

    @Test func missingAndUnidentifiedTracksAreFound() throws {
        let database = try TrackDatabase(path: folder.file("db"))
        let writer = try database.writer()
        let reader = try database.reader()
        try writer.batch { batch throws(TrackDatabaseError) in
            for number in 1...4 {
                var record = TrackRecord(path: TrackPath("r/\(number)"))
                record.file.size = Int64(number / 2)
                try batch.put(record, added: 1)
            }
            try batch.setMissing(true, ids: [2, 3, 4])
            try batch.setIdentity(7, of: 1)
        }
        #expect(try reader.scan.missingTracks(size: 1, limit: 100) == [2, 3])
        #expect(try reader.scan.missingTracks(size: 1, limit: 1) == [2])
        #expect(try reader.scan.missingFiles(size: 1).map(\.id) == [2, 3])
        #expect(try reader.scan.missingTracks(size: 0, limit: 100) == [])
        #expect(try reader.scan.unidentifiedTracks(after: 0, limit: 9) == [])
        try writer.batch { batch throws(TrackDatabaseError) in try batch.setMissing(false, ids: [2, 4]) }
        #expect(try reader.scan.unidentifiedTracks(after: 0, limit: 9) == [2, 4])
        #expect(try reader.scan.unidentifiedTracks(after: 2, limit: 9) == [4])
    }
}

import TestLibraries
import TestSupport
import Testing
import TrackDatabase

/// Counts of sets of tags in folders, which stand for the counts of their tracks where a reader shows some folders.
@Suite struct PlacementTests {
    private static let counted = """
        SELECT tagset, folder, count(*), sum(ifnull(duration, 0)) FROM track WHERE (flags & 1) = 0 GROUP BY tagset, folder
        """
    private static let kept = "SELECT tagset, folder, tracks, duration FROM placement"

    @Test(arguments: seeds(2, nightly: 20)) func countsFollowEachChange(seed: UInt64) throws {
        let folder = TestFolder()
        let path = folder.file("t.db")
        let writer = try TrackDatabase(path: path).writer()
        var numbers = SeededNumbers(seed: seed)
        var ids: [Int64] = []
        func record() -> TrackRecord {
            let place = "Music/\(numbers.number(below: 4))/\(numbers.number(below: 12)).flac"
            var record = TrackRecord(path: TrackPath(place))
            record.tags[.artist] = ["artist \(numbers.number(below: 3))"]
            record.duration = numbers.percent(20) ? nil : Double(numbers.number(below: 5000)) / 10
            return record
        }
        for _ in 0..<60 {
            let changes = (0..<1 + numbers.number(below: 6)).map { _ in (numbers.number(below: 6), record()) }
            let known = ids
            let picks = changes.map { _ in known.isEmpty ? 0 : known[numbers.number(below: known.count)] }
            let made = try writer.batch { batch throws(TrackDatabaseError) in
                var made: [Int64] = []
                for ((change, record), id) in zip(changes, picks) {
                    switch change {
                    case 0, 1: made.append(try batch.put(record, added: 1))
                    case 2: try batch.move(id, to: record)
                    case 3: try batch.setMissing(true, ids: [id])
                    case 4: try batch.setMissing(false, ids: [id])
                    default: try batch.remove(ids: [id])
                    }
                }
                return made
            }
            ids += made
            #expect(SQLiteCheck.rows(path, "\(Self.counted) EXCEPT \(Self.kept)") == [])
            #expect(SQLiteCheck.rows(path, "\(Self.kept) EXCEPT \(Self.counted)") == [])
        }
        #expect(SQLiteCheck.rows(path, "SELECT count(*) > 3 FROM placement") == ["1"])
    }

    /// So many values that the list of all is walked.
    @Test func manyValuesOfSomeFoldersAreWholeAndInOrder() throws {
        let folder = TestFolder()
        let (database, other) = (
            try TrackDatabase(path: folder.file("t.db")), try TrackDatabase(path: folder.file("o.db"))
        )
        var numbers = SeededNumbers(seed: 4)
        var records: [TrackRecord] = []
        for index in 0..<3000 {
            var record = TrackRecord(path: TrackPath("Music/\(index % 2)/\(index).flac"))
            let names = ["É", "e", "日本", "a", "Ö", "o", "'"].map { "\($0) \(numbers.number(below: 400))" }
            record.tags[.artist] = Array(names.prefix(1 + numbers.number(below: 7)))
            record.tags[.genre] = ["genre \(index % 3)"]
            record.duration = Double(index)
            records.append(record)
        }
        let all = records
        try database.writer().batch { batch throws(TrackDatabaseError) in
            for record in all { try batch.put(record, added: 1) }
        }
        try other.writer().batch { batch throws(TrackDatabaseError) in
            for record in all where record.path.folder.last == UInt8(ascii: "1") { try batch.put(record, added: 1) }
        }
        let (reader, alone) = (try database.reader(), try other.reader())
        reader.show([Array("Music/1".utf8)])
        let filters: [TrackFilter?] = [
            nil, .test(.tag(.genre), .is("genre 2")), .test(.number(.duration), .numberAtLeast(9)),
        ]
        for filter in filters {
            // The places of the two differ.
            var query = ValuesQuery(tag: .artist, filter: filter, limit: 700)
            var same = query
            var pages = 0
            repeat {
                let (page, wanted) = (try reader.values(query), try alone.values(same))
                #expect(page.rows == wanted.rows)
                #expect((page.next == nil) == (wanted.next == nil))
                (query.after, same.after) = (page.next, wanted.next)
                pages += 1
            } while query.after != nil && pages < 9
            #expect(pages > 1)
            #expect(try reader.count(filter) == alone.count(filter))
        }
    }
}

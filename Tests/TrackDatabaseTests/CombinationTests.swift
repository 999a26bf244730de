import TestLibraries
import Testing
import TrackDatabase

/// Values of files that have very many of each tag.
@Suite struct CombinationTests {
    private static let tags = [TrackTag.artist, .performer, .composer, .genre]

    private static func values(_ tag: TrackTag) -> [String] { (10..<74).map { "\(tag) \($0)" } }

    @Test("of millions of combinations of one file thousands are counted, with each value of the first tag")
    func bounded() throws {
        let folder = TestFolder()
        let database = try TrackDatabase(path: folder.file("library.db"))
        try database.writer().batch { batch throws(TrackDatabaseError) in
            var record = TrackRecord(path: TrackPath("a/hostile.flac"))
            for tag in Self.tags { record.tags[tag] = Self.values(tag) }
            record.duration = 1
            _ = try batch.put(record, added: 1)
            record = TrackRecord(path: TrackPath("a/plain.flac"))
            for tag in Self.tags { record.tags[tag] = ["Plain"] }
            record.duration = 1
            _ = try batch.put(record, added: 1)
        }
        let reader = try database.reader()
        for filter in [nil, TrackFilter.test(.number(.duration), .numberAtLeast(0))] {
            for group in [Self.tags.dropFirst().dropLast(), Self.tags.dropFirst()] {
                let page = try reader.values(
                    ValuesQuery(tag: .artist, filter: filter, group: Array(group), limit: 10_000))
                #expect(page.rows.count == 4097 && page.next == nil)
                #expect(Set(page.rows.map(\.value)) == Set(Self.values(.artist) + ["Plain"]))
                #expect(Set(page.rows.map { $0.group[0] }) == Set(Self.values(.performer) + ["Plain"]))
                #expect(page.rows.filter { $0.value == "Plain" }.map(\.group) == [group.map { _ in "Plain" }])
            }
        }
    }

    @Test("a question with more combinations than memory has room for is refused, and says why")
    func boundedInAll() throws {
        let folder = TestFolder()
        let database = try TrackDatabase(path: folder.file("library.db"))
        try database.writer().batch { batch throws(TrackDatabaseError) in
            for file in 0..<3 {
                var record = TrackRecord(path: TrackPath("a/\(file).flac"))
                for tag in Self.tags { record.tags[tag] = Self.values(tag).map { "\($0) \(file)" } }
                record.duration = 1
                _ = try batch.put(record, added: 1)
            }
        }
        let reader = try database.reader(timeLimit: 60, mostCombinations: 10_000)
        for filter in [nil, TrackFilter.test(.number(.duration), .numberAtLeast(0))] {
            for group in [[TrackTag.performer, .composer], [.performer, .title]] {
                let error = #expect(throws: TrackDatabaseError.self) {
                    try reader.values(ValuesQuery(tag: .artist, filter: filter, group: group))
                }
                let message = try #require(error?.message)
                #expect(
                    message.hasPrefix("artist, performer, ") && message.contains("10000 combinations: group by fewer"))
            }
            // The reader answers as many combinations as it can hold.
            let page = try reader.values(ValuesQuery(tag: .artist, filter: filter, group: [.title], limit: 10_000))
            #expect(page.rows.count == 3 * 64)
        }
    }
}

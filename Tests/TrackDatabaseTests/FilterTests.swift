import ControlProtocol
import Glibc
import TestLibraries
import Testing
import TrackDatabase

@Suite struct FilterTests {
    /// Every test on every field, with texts and numbers of the library and hostile ones.
    @Test(arguments: seeds(2, nightly: 60)) func eachTestOfEachFieldAgreesWithTheModel(seed: UInt64) throws {
        let library = try SmallLibrary(seed: seed)
        var numbers = SeededNumbers(seed: seed + 100)
        var passed = 0
        for field in FilterField.all {
            for name in field.tests {
                for _ in 0..<6 {
                    let filter = TrackFilter.test(field, Self.test(name, field, library, &numbers))
                    let wanted = library.tracks.filter { FilterModel.passes($0, filter) }.map(\.id)
                    let found = try library.pages(filter, .keys([]), limit: 97)
                    let agrees = found == wanted.sorted()
                    #expect(agrees, "\(filter)")
                    passed += wanted.count
                }
            }
        }
        #expect(passed > 1000)
    }

    @Test(arguments: seeds(1, nightly: 60)) func nestedFiltersAgreeWithTheModelInEachOrder(seed: UInt64) throws {
        let library = try SmallLibrary(seed: seed)
        var numbers = SeededNumbers(seed: seed + 7)
        for _ in 0..<150 {
            let filter = Self.filter(library, &numbers, depth: 3)
            let keys = (0..<numbers.number(below: 4)).map { _ in
                SortKey(SortField.all[numbers.number(below: SortField.all.count)], isFalling: numbers.percent(50))
            }
            let wanted = library.tracks.filter { FilterModel.passes($0, filter) }
            let found = try library.pages(filter, .keys(keys), limit: 1 + numbers.number(below: 60))
            let agrees = found.sorted() == wanted.map(\.id).sorted()
            #expect(agrees, "\(filter) \(keys)")
            let byId = Dictionary(uniqueKeysWithValues: wanted.map { ($0.id, $0) })
            let tracks = found.compactMap { byId[$0] }
            let isSorted = zip(tracks, tracks.dropFirst()).allSatisfy { FilterModel.compare($0, $1, keys) <= 0 }
            #expect(isSorted, "\(filter) \(keys)")
        }
    }

    @Test func valuesAgreeWithTheModel() throws {
        let library = try SmallLibrary(seed: 9)
        var numbers = SeededNumbers(seed: 3)
        for tag in TrackTag.allCases {
            for filter in [nil, Self.filter(library, &numbers, depth: 2), .test(.tag(.genre), .missing(false))] {
                var wanted: [String: Int64] = [:]
                for track in library.tracks where filter.map({ FilterModel.passes(track, $0) }) ?? true {
                    for text in FilterModel.values(tag, of: track) { wanted[text, default: 0] += 1 }
                }
                var rows: [ValueRow] = []
                var after: String?
                repeat {
                    let page = try library.reader.values(ValuesQuery(tag: tag, filter: filter, limit: 7, after: after))
                    rows += page.rows
                    after = page.next
                } while after != nil
                #expect(Dictionary(uniqueKeysWithValues: rows.map { ($0.value, $0.tracks) }) == wanted)
                let keys = rows.map { Folding.fold($0.value) }
                #expect(zip(keys, keys.dropFirst()).allSatisfy { !FilterModel.precedes($1, $0) })
            }
        }
        let grouped = try library.reader.values(ValuesQuery(tag: .album, group: [.albumArtist], limit: 10_000)).rows
        #expect(
            grouped.map(\.tracks).reduce(0, +)
                == Int64(
                    library.tracks.map {
                        ($0.record.tags[.album] ?? []).count * max(1, ($0.record.tags[.albumArtist] ?? []).count)
                    }.reduce(0, +)))
    }

    @Test(arguments: [UInt64(0), 42, .max]) func shuffledOrdersHaveEachTrackOnce(seed: UInt64) throws {
        let library = try SmallLibrary(seed: 6)
        let filters: [TrackFilter?] = [nil, .test(.tag(.genre), .missing(false)), .test(.tag(.genre), .is("Rock"))]
        for filter in filters {
            let wanted = library.tracks.filter { track in filter.map { FilterModel.passes(track, $0) } ?? true }.map(
                \.id)
            let found = try library.pages(filter, .random(seed: seed), limit: 13)
            #expect(found.sorted() == wanted.sorted())
            #expect(try found == library.pages(filter, .random(seed: seed), limit: 50))
            let albums = try library.pages(filter, .randomAlbums(seed: seed), limit: 11)
            #expect(albums.sorted() == wanted.sorted())
            let byId = Dictionary(uniqueKeysWithValues: library.tracks.map { ($0.id, $0) })
            var seen: [Int64?] = []
            for id in albums where seen.last != .some(byId[id]?.album) { seen.append(byId[id]?.album) }
            #expect(Set(seen).count == seen.count)
        }
        let one = try library.pages(nil, .random(seed: seed), limit: 500)
        #expect(try one != library.pages(nil, .random(seed: seed &+ 1), limit: 500))
    }

    /// The name of a file without a title is found, listed, counted and sorted as one, and is no tag.
    @Test func namesOfFilesStandForTitles() throws {
        let folder = TestFolder()
        let database = try TrackDatabase(path: folder.file("library.db"))
        let writer = try database.writer()
        func put(_ path: String, _ titles: [String]) throws {
            try writer.batch { batch throws(TrackDatabaseError) in
                var record = TrackRecord(path: TrackPath(path))
                record.tags[.title] = titles
                record.tags[.artist] = ["Ann"]
                try batch.put(record, added: 1)
            }
        }
        try put("r/01 Mäander.flac", [])
        try put("r/b.flac", ["Aa", "Zz"])
        try put("r/.hidden", [""])
        let reader = try database.reader()
        func names(_ filter: TrackFilter?, _ sort: [SortKey] = []) throws -> [String] {
            try reader.query(TrackQuery(filter: filter, sort: .keys(sort))).rows.map {
                String(decoding: $0.record.path.name, as: UTF8.self)
            }
        }
        let title = FilterField.tag(.title)
        #expect(try names(.test(title, .contains("MAANDER"))) == ["01 Mäander.flac"])
        #expect(try names(.test(title, .is("01 Mäander"))) == ["01 Mäander.flac"])
        #expect(try names(.test(title, .missing(true))) == ["01 Mäander.flac", ".hidden"])
        #expect(try names(.test(title, .missing(false))) == ["b.flac"])
        #expect(try names(.test(.anyTag, .startsWith(".hid"))) == [".hidden"])
        #expect(try names(nil, [SortKey(.tag(.title))]) == [".hidden", "01 Mäander.flac", "b.flac"])
        #expect(try names(nil, [SortKey(.tag(.title), isFalling: true)]) == ["b.flac", "01 Mäander.flac", ".hidden"])
        #expect(try reader.values(ValuesQuery(tag: .title)).rows.map(\.value) == [".hidden", "01 Mäander", "Aa", "Zz"])
        #expect(try reader.search("maand", kinds: [.track]).map(\.text) == ["01 Mäander"])
        #expect(try reader.search("ann maander", kinds: [.track]).map(\.text) == ["01 Mäander"])
        #expect(try reader.track(at: TrackPath("r/01 Mäander.flac"))?.record.tags == [.artist: ["Ann"]])
        // A title that comes, goes and is the same as the name.
        try put("r/01 Mäander.flac", ["01 Mäander"])
        #expect(try names(.test(title, .missing(true))) == [".hidden"])
        #expect(try reader.track(at: TrackPath("r/01 Mäander.flac"))?.record.tags[.title] == ["01 Mäander"])
        try put("r/01 Mäander.flac", ["Other"])
        #expect(try reader.search("maander").isEmpty)
        try put("r/01 Mäander.flac", [])
        let id = try #require(try reader.track(at: TrackPath("r/01 Mäander.flac"))).id
        try writer.batch { batch throws(TrackDatabaseError) in
            try batch.move(id, to: TrackRecord(path: TrackPath("r/New name.ogg")))
        }
        #expect(try reader.search("new na").map(\.text) == ["New name"])
        #expect(try reader.search("maander").isEmpty)
    }

    /// Ages count from the moment of the question, on each page, and dates stay where they are.
    @Test func agesMoveWithTheTime() throws {
        let folder = TestFolder()
        let database = try TrackDatabase(path: folder.file("library.db"))
        let now = Double(time(nil))
        try database.writer().batch { batch throws(TrackDatabaseError) in
            for days in 0..<40 {
                try batch.put(TrackRecord(path: TrackPath("r/\(days)")), added: now - Double(days) * 86_400 - 43_200)
            }
        }
        let reader = try database.reader()
        func pages(_ test: String) throws -> [String] {
            let filter = try TrackFilter(json: JSONReader.read("{\"added\": \(test)}"))
            var found: [String] = []
            var after: String?
            repeat {
                let page = try reader.query(TrackQuery(filter: filter, limit: 7, after: after))
                found += page.rows.map { String(decoding: $0.record.path.name, as: UTF8.self) }
                after = page.next
            } while after != nil
            return found
        }
        #expect(try pages(#"{"atLeast": "30d"}"#) == (0..<30).map(String.init))
        #expect(try pages(#"{"after": "2w"}"#) == (0..<14).map(String.init))
        #expect(try pages(#"{"before": "30d"}"#) == (30..<40).map(String.init))
        #expect(try pages(#"{"atMost": "1mo"}"#) == (30..<40).map(String.init))
        #expect(try pages(#"{"atLeast": "6h"}"#).isEmpty)
        #expect(try pages(#"{"before": "1y"}"#).isEmpty)
        let filter = try TrackFilter(json: JSONReader.read(#"{"added": {"after": "2w"}}"#))
        #expect(try reader.values(ValuesQuery(tag: .title, filter: filter, limit: 9)).rows.count == 9)
    }

    /// A filter of the kinds that people make.
    private static func filter(_ library: SmallLibrary, _ numbers: inout SeededNumbers, depth: Int) -> TrackFilter {
        if depth > 0, numbers.percent(60) {
            let parts = (0..<numbers.number(below: 4)).map { _ in filter(library, &numbers, depth: depth - 1) }
            if numbers.percent(25) { return .not(.any(parts)) }
            return numbers.percent(50) ? .all(parts) : .any(parts)
        }
        let field = FilterField.all[numbers.number(below: FilterField.all.count)]
        let names = field.tests
        return .test(field, test(names[numbers.number(below: names.count)], field, library, &numbers))
    }

    private static func test(
        _ name: FilterTest.Name, _ field: FilterField, _ library: SmallLibrary, _ numbers: inout SeededNumbers
    ) -> FilterTest {
        let track = library.tracks[numbers.number(below: library.tracks.count)]
        if name == .missing { return .missing(numbers.percent(50)) }
        switch field {
        case .tag, .anyTag, .path, .codec: return textTest(name, field, track, &numbers)
        case .number(let field):
            let values: [Double] = [0, 1, 2, 0.5, 16, 44_100, track.record.duration ?? 1, -1, 1e300]
            let value = field == .rating ? track.feedback.rating ?? 0.3 : values[numbers.number(below: values.count)]
            return name == .atLeast ? .numberAtLeast(value) : name == .atMost ? .numberAtMost(value) : .equals(value)
        case .time:
            let moment = numbers.percent(50) ? Int64(1_700_000_000 + numbers.number(below: 60)) : .max
            let second = TimeRange(lower: moment, upper: moment == .max ? .max : moment + 1)
            if name == .is { return .within(second) }
            let isLower = name == .atLeast || name == .after
            return .within(TimeRange(lower: isLower ? moment : nil, upper: isLower ? nil : moment))
        case .flag: return .isTrue(numbers.percent(50))
        }
    }

    private static func textTest(
        _ name: FilterTest.Name, _ field: FilterField, _ track: StoredTrack, _ numbers: inout SeededNumbers
    ) -> FilterTest {
        var text = SmallLibrary.hostile[numbers.number(below: SmallLibrary.hostile.count)]
        if case .tag(let tag) = field, let own = track.record.tags[tag]?.first, numbers.percent(70) { text = own }
        if case .path(let path) = field, numbers.percent(70) {
            text = String(
                decoding: path == .folder ? track.record.path.folder : track.record.path.bytes, as: UTF8.self)
        }
        if field == .codec { text = numbers.percent(70) ? "flac" : "MP3" }
        let start = numbers.number(below: max(1, text.count))
        let part = String(text.dropFirst(start).prefix(1 + numbers.number(below: 6)))
        switch name {
        case .is where field == .path(.uri) && numbers.percent(50): return .place(track.record.path.bytes)
        case .is where field == .path(.folder) && numbers.percent(50): return .place(track.record.path.folder)
        case .is, .missing: return .is(text)
        case .contains: return .contains(numbers.percent(50) ? part.uppercased() : part)
        case .startsWith: return .startsWith(String(text.prefix(numbers.number(below: 6))).lowercased())
        case .below:
            let whole = TrackPath(text)
            return .below(numbers.percent(50) ? whole.folder : numbers.percent(50) ? whole.bytes : Array(text.utf8))
        case .matches: return .matches(numbers.percent(50) ? "*\(part)*" : "?" + text.dropFirst().prefix(2) + "*")
        case .atLeast: return .atLeast(text)
        case .atMost: return .atMost(String(text.prefix(4)))
        case .before: return .before(text)
        case .after: return .after(String(text.prefix(4)))
        }
    }
}

import TestLibraries
import Testing
import TrackDatabase

@Suite struct FilterTests {
    /// Every test on every field, with texts and numbers of the library and hostile ones.
    @Test(arguments: [UInt64(1), 2, 3]) func eachTestOfEachFieldAgreesWithTheModel(seed: UInt64) throws {
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

    @Test(arguments: [UInt64(4), 5]) func nestedFiltersAgreeWithTheModelInEachOrder(seed: UInt64) throws {
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
                    for text in track.record.tags[tag] ?? [] { wanted[text, default: 0] += 1 }
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

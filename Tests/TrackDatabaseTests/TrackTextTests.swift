import Foundation
import TestLibraries
import Testing
import TrackDatabase

/// Tracks as text: the same tracks in the same order as rows, and lines that no text of a file can forge.
@Suite struct TrackTextTests {
    private static let fields =
        ["path", "pathBelow", "modified", "added", "format", "artist", "albumArtist", "title", "trackNumber", "genre"]
        + ["composer", "movement", "movementNumber", "comment", "discNumber", "date", "seconds", "duration"]

    private static let lines = fields.compactMap { TrackLine(key: "\($0) line", field: $0) }

    @Test(arguments: seeds(2, nightly: 20)) func textHasTheRowsOfEachOrder(seed: UInt64) throws {
        let library = try SmallLibrary(seed: seed)
        var numbers = SeededNumbers(seed: seed)
        #expect(Self.lines.count == Self.fields.count)
        let byId = Dictionary(uniqueKeysWithValues: library.tracks.map { ($0.id, $0) })
        let sorts: [TrackSort] = [
            .keys([SortKey(.uri)]), .keys([]), .keys([SortKey(.tag(.artist)), SortKey(.uri)]),
            .keys([SortKey(.tag(.date), isFalling: true)]), .keys([SortKey(.tag(.title))]),
            .keys([SortKey(.number(.duration))]), .keys([SortKey(.time(.added), isFalling: true)]),
            .random(seed: 3), .randomAlbums(seed: 3),
        ]
        let filters: [TrackFilter?] = [
            nil, .test(.tag(.genre), .missing(false)), .not(.test(.tag(.genre), .is("Rock"))),
            .test(.tag(.artist), .is(library.tracks[7].record.tags[.artist]?.first ?? "")),
        ]
        for sort in sorts {
            for filter in filters {
                let wanted = try library.pages(filter, sort, limit: 50).compactMap { byId[$0] }
                for size in [1, 900 + numbers.number(below: 9000), 1 << 30] {
                    let found = try Self.pages(library.reader, filter, sort, limit: 37, size: size)
                    #expect(found.count == wanted.count)
                    let isSame = found.text == wanted.map(Self.text).joined()
                    #expect(isSame, "\(sort) \(String(describing: filter)) \(size)")
                }
            }
        }
    }

    @Test func pagesEndAtTheirSizeAndAtTheirLimit() throws {
        let library = try SmallLibrary(seed: 5)
        let query = TrackQuery(sort: .keys([SortKey(.uri)]), limit: 10)
        func page(size: Int) throws -> TrackText {
            try library.reader.text(query, Self.lines, size: size) { _ in true }
        }
        #expect(try page(size: 0).count == 1)
        let full = try page(size: 1 << 20)
        #expect(full.count == 10 && full.next != nil)
        let first = try page(size: 1000)
        #expect(first.bytes.count >= 1000 && full.bytes.starts(with: first.bytes) && first.next != nil)
    }

    @Test func onlyWhatIsShownIsWritten() throws {
        let library = try SmallLibrary(seed: 6)
        let folder = library.tracks[0].record.path.folder
        library.reader.show([folder])
        let wanted = library.tracks.filter { FilterModel.below($0.record.path.folder, folder) }
        let sort = TrackSort.keys([SortKey(.uri)])
        #expect(try Self.pages(library.reader, nil, sort, limit: 3, size: 1 << 20).count == wanted.count)
        // Nor files in a folder of the library that has gone.
        let none = try library.reader.text(TrackQuery(sort: sort), Self.lines, size: 1 << 20) { _ in false }
        #expect(none.count == 0 && none.bytes.isEmpty)
    }

    @Test func timesAndNumbersHaveAllDigits() throws {
        let folder = TestFolder()
        let database = try TrackDatabase(path: folder.file("t.db"))
        let times: [Int64] = [0, -1, 951_782_400, 1_709_251_199, 4_107_542_399, 253_402_300_799, -62_135_596_800]
        try database.writer().batch { batch throws(TrackDatabaseError) in
            for (index, time) in times.enumerated() {
                var record = TrackRecord(path: TrackPath("Music/\(index)"))
                record.duration = [0.0005, 59.9995, 0, 3600, 0.4994, 0.5, 1.5][index]
                record.numbers.movementNumber = Int64(index) - 3
                try batch.put(record, added: Double(time))
            }
        }
        let lines = ["added", "duration", "seconds", "movementNumber"].compactMap { TrackLine(key: "k", field: $0) }
        let text = try database.reader().text(TrackQuery(sort: .keys([SortKey(.uri)])), lines, size: 1 << 20) { _ in
            true
        }
        let wanted = [
            "1970-01-01T00:00:00Z 0.001 0 -3", "1969-12-31T23:59:59Z 60.000 60 -2", "2000-02-29T00:00:00Z 0.000 0 -1",
            "2024-02-29T23:59:59Z 3600.000 3600 0", "2100-02-28T23:59:59Z 0.499 0 1", "9999-12-31T23:59:59Z 0.500 1 2",
            "0001-01-01T00:00:00Z 1.500 2 3",
        ]
        let found = String(decoding: text.bytes, as: UTF8.self).split(separator: "\n").map { $0.dropFirst(3) }
        #expect(stride(from: 0, to: found.count, by: 4).map { found[$0..<$0 + 4].joined(separator: " ") } == wanted)
    }

    @Test func keysThatForgeLinesAreRefused() {
        for key in ["", "a\nb", "a\r", "\u{7F}", String(repeating: "k", count: 65)] {
            #expect(TrackLine(key: key, field: "title") == nil)
        }
        #expect(TrackLine(key: String(repeating: "k", count: 64), field: "title") != nil)
        #expect(TrackLine(key: "k", field: "nothing") == nil)
    }

    private static func pages(
        _ reader: TrackReader, _ filter: TrackFilter?, _ sort: TrackSort, limit: Int, size: Int
    ) throws -> (text: String, count: Int) {
        var bytes: [UInt8] = []
        var count = 0
        var after: String?
        repeat {
            let query = TrackQuery(filter: filter, sort: sort, limit: limit, after: after)
            let page = try reader.text(query, lines, size: size) { $0.elementsEqual("Music".utf8) }
            #expect(page.count <= limit && (page.count > 0 || page.next == nil))
            bytes += page.bytes
            count += page.count
            after = page.next
        } while after != nil
        return (String(decoding: bytes, as: UTF8.self), count)
    }

    // MARK: Model

    /// The lines of a track, made in another way.
    private static func text(_ track: StoredTrack) -> String {
        fields.flatMap { field in values(field, track).map { "\(field) line: \(clean($0))\n" } }.joined()
    }

    private static func clean(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { "\n\r\0".unicodeScalars.contains($0) ? " " : $0 }))
    }

    private static func values(_ field: String, _ track: StoredTrack) -> [String] {
        let record = track.record
        let path = String(decoding: record.path.bytes, as: UTF8.self)
        func one(_ number: Int64?) -> [String] { number.map { [String($0)] } ?? [] }
        switch field {
        case "path": return [path]
        case "pathBelow": return [String(path.dropFirst("Music/".count))]
        case "trackNumber": return one(record.numbers.trackNumber)
        case "discNumber": return one(record.numbers.discNumber)
        case "movementNumber": return one(record.numbers.movementNumber)
        case "duration": return record.duration.map { [String(format: "%.3f", $0)] } ?? []
        case "seconds": return one(record.duration.map { Int64($0.rounded()) })
        case "format":
            guard let rate = record.format.sampleRate, let channels = record.format.channels else { return [] }
            return ["\(rate):\(record.format.bitsPerSample.map { String($0) } ?? "f"):\(channels)"]
        case "added": return [time(Int64(track.added))]
        case "modified": return [time(record.file.modified / 1_000_000_000)]
        default: return TrackTag(name: field).flatMap { record.tags[$0] } ?? []
        }
    }

    private static func time(_ unix: Int64) -> String {
        Date(timeIntervalSince1970: Double(unix)).formatted(.iso8601)
    }
}

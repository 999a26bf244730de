import TestLibraries
import Testing
import TrackDatabase

/// Texts that Swift has equal though their bytes differ, as files from several systems have them.
@Suite struct SpellingTests {
    private static let spellings = ["Beyonc\u{E9}", "Beyonce\u{301}"]

    /// Two tracks of one folder, each with a spelling of its own in all tags.
    private static func library(_ folder: TestFolder) throws -> TrackReader {
        let database = try TrackDatabase(path: folder.file("library.db"))
        try database.writer().batch { batch throws(TrackDatabaseError) in
            for (number, text) in spellings.enumerated() {
                var record = TrackRecord(path: TrackPath("a/\(number).flac"))
                record.tags = [.artist: [text], .albumArtist: [text], .album: [text], .title: [text]]
                record.duration = Double(number + 1)
                _ = try batch.put(record, added: 1)
            }
        }
        return try database.reader()
    }

    @Test("each spelling is a value with its tracks, and a filter for it finds them")
    func values() throws {
        let folder = TestFolder()
        let reader = try Self.library(folder)
        let wanted = Set(Self.spellings.map { Array($0.utf8) })
        for tag in [TrackTag.artist, .album, .title] {
            for filter in [nil, TrackFilter.test(.number(.duration), .numberAtLeast(0))] {
                // Page by page, as those who read them do.
                var found: [ValueRow] = []
                var after: String?
                repeat {
                    let query = ValuesQuery(tag: tag, filter: filter, group: [.albumArtist], limit: 1, after: after)
                    let page = try reader.values(query)
                    found += page.rows
                    after = page.next
                } while after != nil && found.count < 5
                #expect(found.map(\.tracks) == [1, 1] && Set(found.map { Array($0.value.utf8) }) == wanted)
                #expect(found.allSatisfy { $0.group.map { $0.map { Array($0.utf8) } } == [Array($0.value.utf8)] })
            }
        }
        for text in Self.spellings { #expect(try reader.count(.test(.tag(.artist), .is(text))).tracks == 1) }
    }

    @Test("each spelling of an album is an album")
    func albums() throws {
        let folder = TestFolder()
        let reader = try Self.library(folder)
        let albums = try (0..<2).map { try reader.track(at: TrackPath("a/\($0).flac"))?.album }
        #expect(Set(albums.compactMap { $0 }).count == 2)
        for (number, text) in zip(albums, Self.spellings) {
            #expect(try number.flatMap { try reader.album($0) }.map { Array($0.title.utf8) } == Array(text.utf8))
        }
    }
}

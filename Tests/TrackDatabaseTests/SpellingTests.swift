import TestLibraries
import TestSupport
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
                // Page by page, like a client.
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

    @Test("a search finds each spelling of an artist, and each in several tags once")
    func search() throws {
        let folder = TestFolder()
        let reader = try Self.library(folder)
        for text in Self.spellings + ["beyo", "yonc"] {
            for kind in [SearchKind.artist, .album, .track] {
                let hits = try reader.search(text, kinds: [kind])
                #expect(
                    hits.count == 2 && Set(hits.map { Spelling($0.text) }) == Set(Self.spellings.map(Spelling.init)))
            }
        }
        // So many are asked for, and as many are found.
        #expect(try reader.search("beyo", kinds: [.artist], limit: 2).count == 2)
    }

    @Test("a file with both spellings in one tag has both values")
    func inOneFile() throws {
        let folder = TestFolder()
        let database = try TrackDatabase(path: folder.file("library.db"))
        try database.writer().batch { batch throws(TrackDatabaseError) in
            var record = TrackRecord(path: TrackPath("a/both.flac"))
            record.tags = [.artist: Self.spellings + [""] + Self.spellings, .title: ["One"]]
            _ = try batch.put(record, added: 1)
        }
        let reader = try database.reader()
        for text in Self.spellings { #expect(try reader.count(.test(.tag(.artist), .is(text))).tracks == 1) }
        let artists = try #require(try reader.track(at: TrackPath("a/both.flac"))?.record.tags[.artist])
        #expect(artists.map(Spelling.init) == Self.spellings.map(Spelling.init))
    }

    @Test("texts that are the same where they are cut are one value")
    func cut() throws {
        let folder = TestFolder()
        let database = try TrackDatabase(path: folder.file("library.db"))
        let long = String(repeating: "x", count: 4096)
        try database.writer().batch { batch throws(TrackDatabaseError) in
            var record = TrackRecord(path: TrackPath("a/long.flac"))
            for tag in [TrackTag.artist, .title, .comment] { record.tags[tag] = (1...3).map { "\(long)\($0)" } }
            _ = try batch.put(record, added: 1)
        }
        let tags = try #require(try database.reader().track(at: TrackPath("a/long.flac"))?.record.tags)
        #expect(tags == [.artist: [long], .title: [long], .comment: [long]])
    }

    @Test("spellings with capitals and without are values of their own, in each question")
    func capitals() throws {
        let folder = TestFolder()
        let database = try TrackDatabase(path: folder.file("library.db"))
        let texts = [
            "Hip-Hop (Live)", "hip-hop (live)", "HIP-HOP (LIVE)", "Hip-hop (Live)", "Don't Stop", "Don'T Stop",
            "2nd Of",
            "2Nd Of", "Éa Bc", "éA Bc", "A", "a", "May 1999", "may 1999", "夜 Yo", "1999", "\u{1}", "\u{7F}X", "`N",
        ]
        let writer = try database.writer()
        let ids = try writer.batch { batch throws(TrackDatabaseError) in
            var ids: [Int64] = []
            for (number, text) in texts.enumerated() {
                var record = TrackRecord(path: TrackPath("a/\(number).flac"))
                record.tags = [.artist: [text], .title: [text], .date: [text]]
                ids.append(try batch.put(record, added: 1))
            }
            return ids
        }
        let reader = try database.reader()
        for (tag, id) in zip([TrackTag.artist, .title, .date], ids) {
            let rows = try reader.values(ValuesQuery(tag: tag)).rows
            #expect(rows.map(\.tracks) == texts.map { _ in 1 })
            #expect(Set(rows.map { Spelling($0.value) }) == Set(texts.map(Spelling.init)))
            // In pages, by a filter that passes all, and in the order of tracks they are the same.
            for filter in [nil, TrackFilter.test(.number(.trackNumber), .missing(true))] {
                var (paged, after): ([ValueRow], String?) = ([], nil)
                repeat {
                    let page = try reader.values(ValuesQuery(tag: tag, filter: filter, limit: 2, after: after))
                    paged += page.rows
                    after = page.next
                } while after != nil && paged.count < 99
                #expect(paged.map { Spelling($0.value) } == rows.map { Spelling($0.value) })
                var (tracks, place): ([StoredTrack], String?) = ([], nil)
                let sort = TrackSort.keys([SortKey(.tag(tag))])
                repeat {
                    let page = try reader.query(TrackQuery(filter: filter, sort: sort, limit: 2, after: place))
                    tracks += page.rows
                    place = page.next
                } while place != nil && tracks.count < 99
                let found = tracks.compactMap { $0.record.tags[tag]?.first.map(Spelling.init) }
                #expect(found == rows.map { Spelling($0.value) })
            }
            for text in texts {
                #expect(try reader.count(.test(.tag(tag), .is(text))).tracks == 1)
                let before = texts.filter { $0.utf8.lexicographicallyPrecedes(text.utf8) }
                guard tag == .date else { continue }
                #expect(try reader.count(.test(.tag(tag), .before(text))).tracks == Int64(before.count))
            }
            #expect(try reader.search("hip-hop", kinds: [.artist]).count == 4)
            try writer.batch { batch throws(TrackDatabaseError) in try batch.remove(ids: [id]) }
            try writer.batch { batch throws(TrackDatabaseError) in
                let number = ids.firstIndex(of: id) ?? 0
                var record = TrackRecord(path: TrackPath("a/\(number).flac"))
                record.tags = [.artist: [texts[number]], .title: [texts[number]], .date: [texts[number]]]
                _ = try batch.put(record, added: 1)
            }
        }
        let short = "SELECT count(*) FROM ordered WHERE spelling = ''"
        #expect(SQLiteCheck.rows(folder.file("library.db"), short) == ["18"])
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

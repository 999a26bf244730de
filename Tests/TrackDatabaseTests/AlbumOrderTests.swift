import TestSupport
import Testing
import TrackDatabase

/// The order of albums and of their tracks.
@Suite struct AlbumOrderTests {
    let folder = TemporaryFolder()

    private func library(_ tracks: [(path: String, tags: [TrackTag: String], disc: Int64?, number: Int64?)]) throws
        -> TrackDatabase
    {
        let database = try TrackDatabase(path: folder.file("library.db"))
        let writer = try database.writer()
        try writer.batch { batch throws(TrackDatabaseError) in
            for track in tracks {
                var record = TrackRecord(path: TrackPath(track.path))
                for (tag, text) in track.tags { record.tags[tag] = [text] }
                (record.numbers.discNumber, record.numbers.trackNumber) = (track.disc, track.number)
                try batch.put(record, added: 1)
            }
        }
        return database
    }

    private func paths(_ database: TrackDatabase, _ sort: [String], _ filter: TrackFilter? = nil) throws -> [String] {
        let reader = try database.reader()
        var whole: [String] = []
        // The pages of every size have the same order.
        for limit in [1, 2, 3, 100] {
            var found: [String] = []
            var after: String?
            repeat {
                let page = try reader.query(
                    TrackQuery(filter: filter, sort: try TrackSort(names: sort, seed: 0), limit: limit, after: after))
                found += page.rows.map { String(decoding: $0.record.path.name, as: UTF8.self) }
                after = page.next
            } while after != nil
            if whole.isEmpty { whole = found }
            #expect(found == whole)
        }
        return whole
    }

    @Test("an album plays by disc and number, whichever dates its tracks have") func dates() throws {
        func tags(_ date: String?, _ album: String = "A") -> [TrackTag: String] {
            var tags: [TrackTag: String] = [.album: album, .albumArtist: "Ann", .artist: "Ann"]
            tags[.date] = date
            return tags
        }
        let database = try library([
            ("r/a/4", tags("1998"), 1, 4), ("r/a/1", tags("2001"), 1, 1), ("r/a/3", tags("2001-03"), 1, 3),
            ("r/a/2", tags("2001"), 1, 2), ("r/a/5", tags(nil), 2, 1), ("r/b/6", tags("1999", "Z"), nil, 1),
            ("r/b/7", tags("2030", "Z"), nil, 2), ("r/c/8", tags("2002", "B"), nil, nil),
            ("r/c/9", tags("2002", "B"), nil, nil),
        ])
        #expect(try paths(database, ["albums"], .test(.tag(.album), .is("A"))) == ["1", "2", "3", "4", "5"])
        // Of two dates with as many tracks, the later one is that of the album.
        #expect(try paths(database, ["albums"]) == ["1", "2", "3", "4", "5", "8", "9", "6", "7"])
        #expect(
            try paths(database, ["albums"], .test(.tag(.artist), .is("Ann"))) == [
                "1", "2", "3", "4", "5", "8", "9", "6", "7",
            ])
        #expect(try paths(database, ["-albums"]) == ["6", "7", "8", "9", "1", "2", "3", "4", "5"])
        #expect(try paths(database, ["artist", "albums"]) == ["1", "2", "3", "4", "5", "8", "9", "6", "7"])
    }

    @Test("two albums of one name, and tracks on none, are not mixed") func names() throws {
        let tags: [TrackTag: String] = [.album: "Best Of", .albumArtist: "Ann", .date: "1999"]
        let database = try library([
            ("r/one/1", tags, nil, 1), ("r/two/3", tags, nil, 1), ("r/one/2", tags, nil, 2), ("r/two/4", tags, nil, 2),
            ("r/x/7", [.artist: "Zed", .date: "1990"], nil, nil), ("r/x/6", [.artist: "Bob", .date: "1980"], nil, nil),
            ("r/y/5", [.album: "Mix", .artist: "Bob", .date: "1970"], nil, 1),
        ])
        #expect(try paths(database, ["albums"]) == ["1", "2", "3", "4", "5", "6", "7"])
        #expect(throws: TrackDatabaseError.self) { try TrackSort(names: ["album s"], seed: 0) }
        #expect(
            try TrackSort(names: ["albums", "-date"], seed: 0)
                == .keys([SortKey(.albums), SortKey(.tag(.date), isFalling: true)]))
    }
}

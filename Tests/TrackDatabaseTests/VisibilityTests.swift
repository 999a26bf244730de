import TestLibraries
import Testing
import TrackDatabase

/// A reader that shows some folders answers as one of a library that has only these.
@Suite struct VisibilityTests {
    private static let queries = ["love", "s", "ni", "ght", "the", "ro", "東", "さ", "a", "music", "cd", "flac", "2"]

    @Test(arguments: [UInt64(1), 2, 3, 4]) func answersAsALibraryOfTheseFolders(seed: UInt64) throws {
        let library = try SmallLibrary(seed: seed)
        var numbers = SeededNumbers(seed: seed)
        let folders = Array(Set(library.tracks.map { $0.record.path.folder })).sorted {
            $0.lexicographicallyPrecedes($1)
        }
        for round in 0..<6 {
            var roots = (0...numbers.number(below: 5)).map { _ in folders[numbers.number(below: folders.count)] }
            if numbers.percent(50) { roots[0] = TrackPath(roots[0]).folder }
            if numbers.percent(20) { roots.append(Array("Music/none".utf8)) }
            if round == 5 { roots = [Array("Music".utf8)] }
            let wanted = roots
            let shown = library.tracks.filter { track in
                wanted.contains { FilterModel.below(track.record.path.folder, $0) }
            }
            let folder = TestFolder()
            let other = try TrackDatabase(path: folder.file("other.db"))
            try other.writer().batch { batch throws(TrackDatabaseError) in
                for track in shown { try batch.put(track.record, added: track.added) }
            }
            library.reader.show(roots)
            try Self.compare(library, shown, try other.reader(), roots)
        }
        library.reader.show(nil)
        #expect(try library.pages(nil, .keys([]), limit: 1000).count == library.tracks.count)
    }

    private static func compare(
        _ library: SmallLibrary, _ shown: [StoredTrack], _ other: TrackReader, _ roots: [[UInt8]]
    ) throws {
        let reader = library.reader
        let ids = shown.map(\.id).sorted()
        #expect(try library.pages(nil, .keys([]), limit: 7) == ids)
        #expect(try library.pages(nil, .random(seed: 3), limit: 7).sorted() == ids)
        #expect(try library.pages(nil, .randomAlbums(seed: 3), limit: 7).sorted() == ids)
        #expect(try library.pages(nil, .keys([SortKey(.tag(.artist))]), limit: 7).sorted() == ids)
        #expect(try reader.summary().tracks == Int64(shown.count))
        let rock = TrackFilter.not(.test(.tag(.genre), .is("Rock")))
        for filter in [nil, rock] {
            #expect(try reader.count(filter) == other.count(filter))
            #expect(try reader.count(filter).tracks == Int64(library.pages(filter, .keys([]), limit: 50).count))
        }
        for tag in [TrackTag.artist, .genre, .title, .album] {
            let query = ValuesQuery(tag: tag, limit: 10_000)
            #expect(try reader.values(query).rows == other.values(query).rows)
        }
        for track in library.tracks {
            let isShown = ids.contains(track.id)
            #expect(try (reader.track(track.id) != nil) == isShown)
            #expect(try (reader.track(at: track.record.path) != nil) == isShown)
            if let album = track.album {
                let tracks = shown.filter { $0.album == album }
                #expect(try reader.album(album)?.tracks ?? 0 == Int64(tracks.count))
            }
        }
        for text in queries {
            let found = try Set(reader.search(text, limit: 1000).map(Self.line))
            // Folders above those that are shown are not found.
            let wanted = try other.search(text, limit: 1000).filter { hit in
                hit.kind != .folder || roots.contains { FilterModel.below(hit.path, $0) }
            }
            #expect(found == Set(wanted.map(Self.line)), "\(text)")
        }
        var seen: [[UInt8]] = []
        try browse(reader, [], &seen)
        #expect(Set(seen) == Set(shown.map(\.record.path.bytes)))
    }

    private static func line(_ hit: SearchHit) -> String {
        "\(hit.kind) \(hit.text) \(hit.tracks) \(hit.rank) \(hit.path)"
    }

    /// All tracks that a walk from folder to folder meets.
    private static func browse(_ reader: TrackReader, _ folder: [UInt8], _ seen: inout [[UInt8]]) throws {
        var after: String?
        repeat {
            let page = try #require(try reader.browse(folder, limit: 3, after: after))
            for row in page.rows {
                switch row {
                case .folder(let path): try browse(reader, path, &seen)
                case .track(let track): seen.append(track.record.path.bytes)
                }
            }
            after = page.next
        } while after != nil
    }

    @Test func foldersAndFaultsOutsideAreHidden() throws {
        let folder = TestFolder()
        let database = try TrackDatabase(path: folder.file("library.db"))
        try database.writer().batch { batch throws(TrackDatabaseError) in
            for path in ["a/x/1", "a/xy/2", "b/3", "a/4"] {
                try batch.put(TrackRecord(path: TrackPath(path)), added: 1)
                try batch.putFault(
                    TrackFault(path: TrackPath(path + ".bad"), file: TrackFile(), reason: "r", at: 1))
            }
        }
        let reader = try database.reader()
        reader.show([Array("a/x".utf8)])
        #expect(try reader.browse(Array("b".utf8)) == nil)
        #expect(try reader.browse(Array("a/xy".utf8)) == nil)
        #expect(try reader.browse([])?.rows == [.folder(Array("a".utf8))])
        #expect(try reader.browse(Array("a".utf8))?.rows == [.folder(Array("a/x".utf8))])
        #expect(try reader.browse(Array("a/x".utf8))?.rows.count == 1)
        #expect(try reader.faults().map(\.path.bytes) == [Array("a/x/1.bad".utf8)])
        #expect(try reader.faultCount() == 1)
        reader.show([])
        #expect(try reader.browse([])?.rows == nil)
        #expect(try reader.summary().tracks == 0)
        #expect(try reader.faults().isEmpty)
        reader.show([[]])
        #expect(try reader.summary().tracks == 4 && reader.faultCount() == 4)
        // New folders come into sight.
        reader.show([Array("a".utf8), Array("b".utf8), Array("c".utf8)])
        #expect(try reader.summary().tracks == 4)
        try database.writer().batch { batch throws(TrackDatabaseError) in
            try batch.put(TrackRecord(path: TrackPath("c/5")), added: 1)
            try batch.put(TrackRecord(path: TrackPath("d/6")), added: 1)
        }
        #expect(try reader.summary().tracks == 5)
    }
}

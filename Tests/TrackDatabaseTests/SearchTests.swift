import TestLibraries
import Testing
import TrackDatabase

@Suite struct SearchTests {
    private static func library(_ folder: TestFolder) throws -> TrackReader {
        let database = try TrackDatabase(path: folder.file("library.db"))
        let tracks = [
            ("Pink Floyd", "The Dark Side of the Moon", "Time"), ("Pink Floyd", "The Dark Side of the Moon", "Money"),
            ("Pink Floyd", "The Wall", "Another Brick in the Wall"), ("Pink Floyd", "The Wall", "Mother"),
            ("Pink", "Pinkest", "Timeless"), ("Other", "Pink Times", "Song"), ("Other", "Else", "Pink Time"),
            ("Wall of Sound", "Floyd", "X"), ("東京事変", "大人", "秘密"),
        ]
        try database.writer().batch { batch throws(TrackDatabaseError) in
            for (index, (artist, album, title)) in tracks.enumerated() {
                var record = TrackRecord(path: TrackPath("r/\(artist)/\(album)/\(index)"))
                record.tags = [.artist: [artist], .album: [album], .title: [title]]
                // Dates of an album may differ; one track has none.
                if album == "The Wall" { record.tags[.date] = [index == 2 ? "1979-11-30" : "1979"] }
                try batch.put(record, added: 1)
            }
        }
        return try database.reader()
    }

    private static func found(_ reader: TrackReader, _ text: String, _ kinds: [SearchKind] = [.artist, .album, .track])
        throws -> [String]
    {
        try reader.search(text, kinds: kinds).map { "\($0.kind) \($0.text)" }
    }

    @Test func wordsMayStandInSeveralFields() throws {
        let folder = TestFolder()
        let reader = try Self.library(folder)
        #expect(
            try Self.found(reader, "pink time")
                == ["track Pink Time", "album Pink Times", "track Time", "track Timeless"])
        #expect(
            try Self.found(reader, "floyd wall") == [
                "album Floyd", "album The Wall", "track Another Brick in the Wall",
            ])
        #expect(try Self.found(reader, "wall pink brick") == ["track Another Brick in the Wall"])
        #expect(try Self.found(reader, "FLO mone") == ["track Money"])
        #expect(try Self.found(reader, "東京 秘密") == ["track 秘密"])
        #expect(try Self.found(reader, "floyd nothing").isEmpty)
        #expect(try Self.found(reader, "pink floyd") == ["artist Pink Floyd"])
        #expect(try Self.found(reader, "floyd wall", [.album]) == ["album Floyd", "album The Wall"])
        let hit = try #require(try reader.search("floyd money").first)
        #expect(hit.tag == .title && hit.rank == .fieldWords && hit.tracks == 1)
        #expect(try reader.track(hit.id)?.record.tags[.title] == ["Money"])
        let album = try #require(try reader.search("floyd the wall", kinds: [.album]).first)
        #expect(album.tag == .album && album.tracks == 2)
        #expect(try reader.album(album.id)?.title == "The Wall")
        #expect(try reader.album(album.id)?.date == "1979-11-30")
        reader.show([Array("r/Pink".utf8)])
        #expect(try Self.found(reader, "pink time") == ["track Timeless"])
        #expect(try Self.found(reader, "floyd wall").isEmpty)
    }

    /// Every hit has all words, and every track that has them in its texts is found, where there are few.
    @Test(arguments: seeds(2, nightly: 60)) func pairsOfWordsAgreeWithTheModel(seed: UInt64) throws {
        let library = try SmallLibrary(seed: seed)
        var numbers = SeededNumbers(seed: seed)
        for _ in 0..<150 {
            let track = library.tracks[numbers.number(below: library.tracks.count)]
            let words = Self.words(track, [.artist, .albumArtist, .album, .title])
            guard words.count > 1 else { continue }
            let wanted = (0..<2).map { _ in
                String(words[numbers.number(below: words.count)].prefix(1 + numbers.number(below: 7)))
            }
            let hits = try library.reader.search(wanted.joined(separator: " "), kinds: [.track], limit: 1000)
            let found = Set(hits.filter { $0.rank != .anywhere }.map(\.id))
            var expected: Set<Int64> = []
            for track in library.tracks {
                // A further title is found by itself alone.
                let texts = FilterModel.values(.title, of: track)
                let title = Self.words(texts.prefix(1))
                let all = Self.words(track, [.artist, .albumArtist, .album, .composer, .conductor, .performer]) + title
                if Self.has(all, wanted) && wanted.contains(where: { Self.has(title, [$0]) })
                    || texts.contains(where: { Self.has(Self.words([$0]), wanted) })
                {
                    expected.insert(track.id)
                }
            }
            #expect(found == expected, "\(wanted)")
        }
    }

    private static func words(_ track: StoredTrack, _ tags: [TrackTag]) -> [String] {
        words(tags.flatMap { track.record.tags[$0] ?? [] })
    }

    private static func words(_ texts: some Sequence<String>) -> [String] {
        texts.flatMap { Folding.fold($0).split(separator: " ") }.flatMap { piece in
            let parts = piece.split { !$0.isLetter && !$0.isNumber }.map(String.init)
            // Letters that only punctuation parts are one more word together.
            return parts.count > 1 ? parts + [parts.joined()] : parts
        }
    }

    /// True: each of them begins a word.
    private static func has(_ words: [String], _ wanted: [String]) -> Bool {
        wanted.map(Folding.fold).allSatisfy { wanted in words.contains { $0.utf8.starts(with: wanted.utf8) } }
    }
}

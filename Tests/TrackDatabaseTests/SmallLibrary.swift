import TestLibraries
import TrackDatabase

/// A generated library of some hundred tracks with gaps, odd texts and feedback, in a database and in memory.
struct SmallLibrary {
    let folder = TestFolder()
    let database: TrackDatabase
    let reader: TrackReader
    /// All tracks whose files are there.
    let tracks: [StoredTrack]
    private(set) var numbers: SeededNumbers

    /// Texts that break careless code.
    static let hostile = [
        "'; DROP TABLE track; --", "100%_\\", "a\0b", "\"quoted\" AND NEAR(x", "*?*", "日本語テキスト", "ﾒﾛﾃﾞｨ", "  spaces  ",
        "!!!", "AC/DC",
        "É\u{301}", "🎵", "col:umn ^start -minus +plus", "(", "NULL", "\u{202E}rtl", "@?1",
    ]

    init(seed: UInt64, count: Int = 400) throws {
        database = try TrackDatabase(path: folder.file("library.db"))
        var numbers = SeededNumbers(seed: seed)
        let writer = try database.writer()
        var generator = LibraryGenerator(seed: seed, tracks: count, artists: 30)
        var made: [(Int64, TrackFeedback)] = []
        while let record = generator.next() {
            let changed = Self.changed(record, &numbers)
            let added = Double(1_700_000_000 + numbers.number(below: 50))
            var feedback = TrackFeedback()
            if numbers.percent(40) {
                feedback.liked = numbers.percent(50) ? true : numbers.percent(50) ? false : nil
                feedback.rating = numbers.percent(50) ? Double(numbers.number(below: 11)) / 10 : nil
                feedback.playCount = Int64(numbers.number(below: 5))
                feedback.lastPlayed = numbers.percent(50) ? Double(1_700_000_000 + numbers.number(below: 1000)) : nil
            }
            let own = feedback
            made.append(
                try writer.batch { batch throws(TrackDatabaseError) in
                    let id = try batch.put(changed, added: added)
                    try batch.setFeedback(own, of: id)
                    return (id, own)
                })
        }
        // Some vanish, and some change.
        let gone = made.enumerated().filter { $0.offset % 17 == 3 }.map(\.element.0)
        let removed = made.enumerated().filter { $0.offset % 29 == 5 }.map(\.element.0)
        try writer.batch { batch throws(TrackDatabaseError) in
            try batch.setMissing(true, ids: gone)
            try batch.remove(ids: removed)
        }
        let reader = try database.reader()
        self.reader = reader
        let stored = try reader.tracks(made.map(\.0))
        let compilations = Self.compilations(stored)
        tracks = stored.filter { !$0.isMissing }.map { track in
            var track = track
            if let album = track.album, compilations.contains(album) { track.record.isCompilation = true }
            return track
        }
        self.numbers = numbers
    }

    /// Albums of which a file says that it is a compilation, or that have several artists and name none for the album.
    private static func compilations(_ tracks: [StoredTrack]) -> Set<Int64> {
        var albums: [Int64: [TrackRecord]] = [:]
        for track in tracks { if let album = track.album { albums[album, default: []].append(track.record) } }
        return Set(
            albums.filter { _, records in
                records.contains(where: \.isCompilation)
                    || records.allSatisfy { ($0.tags[.albumArtist] ?? []).isEmpty }
                        && Set(records.map { $0.tags[.artist]?.first }).count > 1
            }.keys)
    }

    private static func changed(_ record: TrackRecord, _ numbers: inout SeededNumbers) -> TrackRecord {
        var record = record
        for tag in [TrackTag.artist, .title, .album, .composer, .genre, .comment, .albumArtist, .date] {
            if numbers.percent(10) { record.tags[tag] = nil }
            if numbers.percent(8) { record.tags[tag] = [hostile[numbers.number(below: hostile.count)]] }
            if numbers.percent(4) {
                record.tags[tag, default: []].append(hostile[numbers.number(below: hostile.count)])
            }
        }
        if numbers.percent(10) { record.duration = nil }
        if numbers.percent(10) { record.format = TrackFormat() }
        if numbers.percent(10) { record.numbers.trackNumber = nil }
        if numbers.percent(5) {
            record.path.name = [0xFF, 0x27, UInt8(numbers.number(below: 200) + 48)] + record.path.name
        }
        record.hasLyrics = numbers.percent(20)
        record.hasPicture = numbers.percent(50)
        return record
    }

    /// The numbers of all pages of a question, which each have `limit` rows but the last.
    func pages(_ filter: TrackFilter?, _ sort: TrackSort, limit: Int) throws -> [Int64] {
        var ids: [Int64] = []
        var after: String?
        repeat {
            let page = try reader.queryIds(TrackQuery(filter: filter, sort: sort, limit: limit, after: after))
            ids += page.rows
            after = page.next
            if after != nil, page.rows.count != limit { return [] }
        } while after != nil
        return ids
    }
}

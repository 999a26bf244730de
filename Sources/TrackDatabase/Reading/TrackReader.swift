/// Answers questions about the library. Used by one thread at a time; it never waits for a writer, and each answer is of one
/// moment.
package final class TrackReader: @unchecked Sendable {
    // @unchecked: its owner uses it on one thread at a time.

    let core: ReaderCore
    private let values: ValueCounter

    /// A reader of an open database; `timeLimit` in seconds. `mostCombinations`: of values that one question counts.
    init(_ database: SQLiteDatabase, timeLimit: Double, mostCombinations: Int) {
        core = ReaderCore(database, timeLimit: timeLimit)
        values = ValueCounter(core, mostCombinations: mostCombinations)
    }

    /// Portions of 5000 steps that SQLite has taken for all questions so far.
    package var portions: Int { core.database.portions }

    /// Folders that it shows, each with all below it; nil: all.
    package var shown: [[UInt8]]? { core.shown }

    /// Answers to scans.
    package var scan: ScanReader { ScanReader(core) }

    /// Shows only tracks, texts, folders and faults that lie in these folders or below them, from the next question on; nil:
    /// all. Paths as in `TrackPath.folder`.
    package func show(_ folders: [[UInt8]]?) { core.show(folders) }

    /// Gives memory back that only saves reading.
    package func rest() { core.rest() }

    // MARK: Tracks

    /// The track with this number, a missing one too; nil: there is none.
    package func track(_ id: Int64) throws(TrackDatabaseError) -> StoredTrack? { try RecordReader(core).track(id) }

    /// The track at this place, a missing one too; nil: there is none.
    package func track(at path: TrackPath) throws(TrackDatabaseError) -> StoredTrack? {
        try RecordReader(core).track(at: path)
    }

    /// Tracks with this hash of their sound, missing ones too, at most 100.
    package func tracks(identity: Int64) throws(TrackDatabaseError) -> [StoredTrack] {
        try RecordReader(core).tracks(identity: identity)
    }

    /// The tracks with these numbers, without those that there are not.
    package func tracks(_ ids: [Int64]) throws(TrackDatabaseError) -> [StoredTrack] {
        try RecordReader(core).tracks(ids)
    }

    /// The album with this number; nil: there is none.
    package func album(_ id: Int64) throws(TrackDatabaseError) -> StoredAlbum? { try RecordReader(core).album(id) }

    // MARK: Questions

    /// A page of tracks whose files are there.
    package func query(_ query: TrackQuery) throws(TrackDatabaseError) -> Page<StoredTrack> {
        try QueryReader(core).query(query)
    }

    /// Hands over the tracks of a page, with these tags of each and with feedback if `hasFeedback`, until `take` returns false: the
    /// next page begins with that one.
    package func query(
        _ query: TrackQuery, reading tags: TagChoice, hasFeedback: Bool = true, _ take: (StoredTrack) -> Bool
    ) throws(TrackDatabaseError) -> (next: String?, version: Int64) {
        try QueryReader(core).query(query, reading: tags, hasFeedback: hasFeedback, take)
    }

    /// The same as numbers of tracks, which takes a tenth of the time.
    package func queryIds(_ query: TrackQuery) throws(TrackDatabaseError) -> Page<Int64> {
        try QueryReader(core).queryIds(query)
    }

    /// Hands over all tracks of a query in its order, portion by portion, as they are at one moment. `body` returns false to
    /// end the walk. Each page may take as long as a question; the query's own page does not matter.
    package func walk(_ query: TrackQuery, _ body: ([StoredTrack]) -> Bool) throws(TrackDatabaseError) {
        try TrackWalk(core).walk(query, body)
    }

    /// Tracks of a page as text. A page ends after the row with which it has `size` bytes, or at the query's limit. Tracks are
    /// passed over whose folder of the library `hasRoot` does not know by its name.
    package func text(
        _ query: TrackQuery, _ lines: [TrackLine], size: Int, hasRoot: @escaping ([UInt8]) -> Bool
    ) throws(TrackDatabaseError) -> TrackText {
        try TextReader(core).text(query, lines, size: size, hasRoot: hasRoot)
    }

    /// The tracks at these places as text, missing ones too; nil: no place of the library. It ends after the track with which it
    /// has `size` bytes: `ends` shows which one that is.
    package func text(
        at paths: [TrackPath?], _ lines: [TrackLine], size: Int, hasRoot: @escaping ([UInt8]) -> Bool
    ) throws(TrackDatabaseError) -> TrackText {
        try TextReader(core).text(at: paths, lines, size: size, hasRoot: hasRoot)
    }

    /// A page of the values of a tag, by their folded text.
    package func values(_ query: ValuesQuery) throws(TrackDatabaseError) -> Page<ValueRow> { try values.values(query) }

    /// A page of a folder: its folders by name, then its tracks by name; nil: there is no such folder. Folders without any
    /// track that is there are left out.
    package func browse(
        _ folder: [UInt8], limit: Int = 1000, after: String? = nil
    ) throws(TrackDatabaseError) -> Page<FolderEntry>? {
        try FolderBrowser(core).browse(folder, limit: limit, after: after)
    }

    /// Finds artists, albums, tracks, genres and folders, the best first: whole words and beginnings before the rest, artists
    /// before albums before tracks. One or two letters find beginnings of words, and in scripts without spaces anywhere; three
    /// or more find it anywhere.
    package func search(
        _ text: String, kinds: [SearchKind] = SearchKind.allCases, limit: Int = 50
    ) throws(TrackDatabaseError) -> [SearchHit] {
        try core.question("very many texts have these letters") { () throws(TrackDatabaseError) in
            let wanted = SearchText(text)
            guard !wanted.folded.isEmpty else { return [] }
            let limit = min(max(1, limit), 1000)
            var finder = try SearchFinder(core, wanted: wanted, limit: limit)
            try finder.find(kinds)
            return try finder.hits()
        }
    }

    // MARK: Counts

    /// Counts the tracks that pass a filter and whose files are there; nil: all.
    package func count(_ filter: TrackFilter?) throws(TrackDatabaseError) -> TrackCount {
        try TrackCounter(core).count(filter)
    }

    /// The number that a program keeps under a name, see `TrackBatch.setNumber`; nil: there is none.
    package func number(for name: String) throws(TrackDatabaseError) -> Int64? {
        try core.database.number("SELECT number FROM mark WHERE name = ?1", .text(name))
    }

}

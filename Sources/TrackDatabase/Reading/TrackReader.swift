/// Queries about the library. Used by one thread at a time. It never waits for a writer, and each answer has one state
/// of the database.
package final class TrackReader: @unchecked Sendable {
    // @unchecked: its owner uses it on one thread at a time.

    let core: ReaderCore
    private let values: ValueCounter

    /// A reader of an open database; `timeLimit` in seconds. `mostCombinations`: combinations of values in one query,
    /// at most.
    init(_ database: SQLiteDatabase, timeLimit: Double, mostCombinations: Int) {
        core = ReaderCore(database, timeLimit: timeLimit)
        values = ValueCounter(core, mostCombinations: mostCombinations)
    }

    /// Portions of 5000 steps of SQLite for all queries so far.
    package var portions: Int { core.database.portions }

    /// Visible folders, each with all below it; nil: all.
    package var shown: [[UInt8]]? { core.shown }

    /// Queries of scans.
    package var scan: ScanReader { ScanReader(core) }

    /// Queries of the measuring of loudness.
    package var loudness: LoudnessReader { LoudnessReader(core) }

    /// Makes only tracks, texts, folders and faults in or below these folders visible, from the next query on; nil:
    /// all. Paths as in `TrackPath.folder`.
    package func show(_ folders: [[UInt8]]?) { core.show(folders) }

    /// Releases the memory of caches.
    package func rest() { core.rest() }

    // MARK: Tracks

    /// The track with this number, even a missing one; nil: there is none.
    package func track(_ id: Int64) throws(TrackDatabaseError) -> StoredTrack? { try RecordReader(core).track(id) }

    /// The track at this place, even a missing one; nil: there is none.
    package func track(at path: TrackPath) throws(TrackDatabaseError) -> StoredTrack? {
        try RecordReader(core).track(at: path)
    }

    /// Tracks with this hash of their sound, even missing ones, at most 100.
    package func tracks(identity: Int64) throws(TrackDatabaseError) -> [StoredTrack] {
        try RecordReader(core).tracks(identity: identity)
    }

    /// The tracks with these numbers; unknown numbers are skipped.
    package func tracks(_ ids: [Int64]) throws(TrackDatabaseError) -> [StoredTrack] {
        try RecordReader(core).tracks(ids)
    }

    /// The album with this number; nil: there is none.
    package func album(_ id: Int64) throws(TrackDatabaseError) -> StoredAlbum? { try RecordReader(core).album(id) }

    // MARK: Queries

    /// A page of tracks whose files are present.
    package func query(_ query: TrackQuery) throws(TrackDatabaseError) -> Page<StoredTrack> {
        try QueryReader(core).query(query)
    }

    /// Passes the tracks of a page, with these tags of each and with feedback and measured loudness if `isWhole`, until
    /// `take` returns false: the next page begins with that track.
    package func query(
        _ query: TrackQuery, reading tags: TagChoice, isWhole: Bool = true, _ take: (StoredTrack) -> Bool
    ) throws(TrackDatabaseError) -> (next: String?, version: Int64) {
        try QueryReader(core).query(query, reading: tags, isWhole: isWhole, take)
    }

    /// A page as numbers of tracks, which takes a tenth of the time.
    package func queryIds(_ query: TrackQuery) throws(TrackDatabaseError) -> Page<Int64> {
        try QueryReader(core).queryIds(query)
    }

    /// Passes all tracks of a query in its order, portion by portion, in one state of the database. `body` returns
    /// false to end the walk. Each page has the time limit of a query; the query's own page is ignored.
    package func walk(_ query: TrackQuery, _ body: ([StoredTrack]) -> Bool) throws(TrackDatabaseError) {
        try TrackWalk(core).walk(query, body)
    }

    /// Tracks of a page as text. A page ends after the row that reaches `size` bytes, or at the query's limit. Tracks
    /// are skipped if `hasRoot` is false for their folder of the library.
    package func text(
        _ query: TrackQuery, _ lines: [TrackLine], size: Int, hasRoot: @escaping ([UInt8]) -> Bool
    ) throws(TrackDatabaseError) -> TrackText {
        try TextReader(core).text(query, lines, size: size, hasRoot: hasRoot)
    }

    /// The tracks at these places as text, even missing ones; nil: not a place of the library. The text ends after the
    /// track that reaches `size` bytes; `ends` has one entry for each written track.
    package func text(
        at paths: [TrackPath?], _ lines: [TrackLine], size: Int, hasRoot: @escaping ([UInt8]) -> Bool
    ) throws(TrackDatabaseError) -> TrackText {
        try TextReader(core).text(at: paths, lines, size: size, hasRoot: hasRoot)
    }

    /// A page of the values of a tag, by their folded text.
    package func values(_ query: ValuesQuery) throws(TrackDatabaseError) -> Page<ValueRow> { try values.values(query) }

    /// A page of a folder: its folders by name, then its tracks by name; nil: there is no such folder. Folders without
    /// any present track are left out.
    package func browse(
        _ folder: [UInt8], limit: Int = 1000, after: String? = nil
    ) throws(TrackDatabaseError) -> Page<FolderEntry>? {
        try FolderBrowser(core).browse(folder, limit: limit, after: after)
    }

    /// Finds artists, albums, tracks, genres and folders, the best first: whole words and beginnings before the rest,
    /// artists before albums before tracks. One or two letters match beginnings of words, and in scripts without spaces
    /// any part; three or more letters match any part.
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

    /// Counts the present tracks that pass a filter; nil: all.
    package func count(_ filter: TrackFilter?) throws(TrackDatabaseError) -> TrackCount {
        try TrackCounter(core).count(filter)
    }

    /// The number that a program stored under a name, see `TrackBatch.setNumber`; nil: there is none.
    package func number(for name: String) throws(TrackDatabaseError) -> Int64? {
        try core.database.number("SELECT number FROM mark WHERE name = ?1", .text(name))
    }

}

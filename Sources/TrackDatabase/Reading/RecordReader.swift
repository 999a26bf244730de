/// Reads tracks and albums by their numbers and places.
struct RecordReader {
    private let core: ReaderCore

    private static let columns = """
        SELECT t.id, t.folder, t.name, t.title, t.disc, t.number, t.duration, t.format, t.flags,
        t.added, t.modified, t.size, t.inode, t.identity, t.own, t.extra, t.tagset
        """
    private static let plain = columns + " FROM track t WHERE t.id = ?1"
    private static let whole =
        columns + """
            , f.liked, f.rating, f.plays, f.skips, f.played, l.level, l.peak, l.album, l.albumpeak
            FROM track t LEFT JOIN feedback f ON f.track = t.id
            LEFT JOIN loudness l ON l.track = t.id AND \(LoudnessReader.isValid) WHERE t.id = ?1
            """

    /// A reader of this database.
    init(_ core: ReaderCore) { self.core = core }

    /// The track with this number, even a missing one; nil: there is none.
    func track(_ id: Int64) throws(TrackDatabaseError) -> StoredTrack? {
        try core.question(Self.rows) { () throws(TrackDatabaseError) in try load(id) }
    }

    private static let rows = "very many rows were read"

    /// The same within a query, with these tags; `isWhole`: with its feedback and its measured loudness.
    func load(
        _ id: Int64, _ tags: TagChoice = .all, isWhole: Bool = true
    ) throws(TrackDatabaseError) -> StoredTrack? {
        let statement = try core.database.statement(isWhole ? Self.whole : Self.plain)
        defer { statement.reset() }
        guard try statement.bind([.integer(id)]).step(), try core.shows(folder: statement.integer(1)) else {
            return nil
        }
        return try track(of: statement, tags, isWhole: isWhole)
    }

    /// The track at this place, even a missing one; nil: there is none.
    func track(at path: TrackPath) throws(TrackDatabaseError) -> StoredTrack? {
        try core.question(Self.rows) { () throws(TrackDatabaseError) in
            let id = try core.database.number(
                "SELECT t.id FROM folder f CROSS JOIN track t ON t.folder = f.id AND t.name = ?2 WHERE f.path = ?1",
                .blob(path.folder), .blob(path.name))
            return try id.flatMap { id throws(TrackDatabaseError) in try load(id) }
        }
    }

    /// Tracks with this hash of their sound, even missing ones, at most 100.
    func tracks(identity: Int64) throws(TrackDatabaseError) -> [StoredTrack] {
        try core.question(Self.rows) { () throws(TrackDatabaseError) in
            let statement = try core.database.statement(
                "SELECT id FROM track WHERE \(TrackSchema.hasIdentity) ORDER BY id LIMIT 100")
            try statement.bind([.integer(identity)])
            var ids: [Int64] = []
            while try statement.step() { ids.append(statement.integer(0)) }
            statement.reset()
            return try load(ids)
        }
    }

    /// The tracks with these numbers; unknown numbers are skipped.
    func tracks(_ ids: [Int64]) throws(TrackDatabaseError) -> [StoredTrack] {
        try core.question(Self.rows) { () throws(TrackDatabaseError) in try load(ids) }
    }

    /// The same within a query.
    func load(_ ids: [Int64]) throws(TrackDatabaseError) -> [StoredTrack] {
        var found: [StoredTrack] = []
        found.reserveCapacity(ids.count)
        for id in ids {
            if let track = try load(id) { found.append(track) }
        }
        return found
    }

    /// The album with this number; nil: there is none.
    func album(_ id: Int64) throws(TrackDatabaseError) -> StoredAlbum? {
        try core.question(Self.rows) { () throws(TrackDatabaseError) in
            guard var album = try storedAlbum(id) else { return nil }
            album.date = try date(ofAlbum: id)
            if try core.visible() != nil {
                let count = try TrackCounter(core).counted(.album(id))
                guard count.tracks > 0 else { return nil }
                album.tracks = count.tracks
                album.duration = count.duration
            }
            return album
        }
    }

    private func storedAlbum(_ id: Int64) throws(TrackDatabaseError) -> StoredAlbum? {
        let statement = try core.database.statement(
            """
            SELECT (SELECT text FROM value WHERE id = a.title), (SELECT text FROM value WHERE id = a.artist), a.various,
            a.tracks, a.duration, a.artist IS NULL FROM album a WHERE a.id = ?1
            """)
        defer { statement.reset() }
        guard try statement.bind([.integer(id)]).step() else { return nil }
        return StoredAlbum(
            id: id, title: statement.text(0), artist: statement.integer(5) == 0 ? statement.text(1) : nil,
            isCompilation: statement.integer(2) != 0, tracks: statement.integer(3),
            duration: Double(statement.integer(4)) / 1000)
    }

    /// The date of most visible tracks of an album; among several, the latest. Nil: none has one.
    private func date(ofAlbum id: Int64) throws(TrackDatabaseError) -> String? {
        let shown = try core.visible()
        let condition =
            shown == nil
            ? "1"
            : """
            EXISTS(SELECT 1 FROM track t INDEXED BY track_tagset
                WHERE t.tagset = a.id AND (t.flags & \(TrackFlags.missing)) = 0 AND holds(t.folder, ?2))
            """
        let statement = try core.database.statement(AlbumDate.sql(album: "?1", condition: condition))
        defer { statement.reset() }
        try statement.bind([.integer(id)] + (shown.map { [.ids($0.ids)] } ?? []))
        return try statement.step() ? statement.text(0) : nil
    }

    private func track(
        of row: SQLiteStatement, _ wanted: TagChoice, isWhole: Bool
    ) throws(TrackDatabaseError) -> StoredTrack {
        var record = TrackRecord(path: TrackPath(folder: try folder(row.integer(1)), name: row.blob(2)))
        record.file = TrackFile(size: row.integer(11), modified: row.integer(10), inode: row.integer(12))
        record.duration = row.optionalInteger(6).map { Double($0) / 1000 }
        if let format = row.optionalInteger(7) { record.format = try self.format(format) }
        record.numbers.discNumber = row.optionalInteger(4)
        record.numbers.trackNumber = row.optionalInteger(5)
        let flags = row.integer(8)
        record.hasLyrics = flags & TrackFlags.hasLyrics != 0
        record.hasPicture = flags & TrackFlags.hasPicture != 0
        record.isUnreadable = flags & TrackFlags.isUnreadable != 0
        let shared = try sharedTags(row.integer(16), wanted)
        record.isCompilation = shared.saysCompilation
        record.tags = shared.tags
        record.identity = row.optionalInteger(13)
        if !row.isEmpty(15) { TrackNumbersBlob.unpack(row.blob(15), to: &record) }
        if wanted.contains(.title), flags & TrackFlags.isNamedByFile == 0, let title = row.optionalInteger(3) {
            record.tags[.title] = [try value(title, keeps: false).text]
        }
        if !row.isEmpty(14) { try add(row.blob(14), wanted, to: &record.tags) }
        var feedback = TrackFeedback()
        if isWhole {
            feedback.liked = row.optionalInteger(17).map { $0 != 0 }
            feedback.rating = row.optionalReal(18)
            feedback.playCount = row.integer(19)
            feedback.skipCount = row.integer(20)
            feedback.lastPlayed = row.optionalReal(21)
        }
        return StoredTrack(
            id: row.integer(0), album: shared.album, added: Double(row.integer(9)),
            isMissing: flags & TrackFlags.missing != 0, record: record, feedback: feedback,
            loudness: isWhole ? MeasuredLoudness(row, from: 22) : nil)
    }

    /// The part of a track in its set of tags. Tracks of an album follow each other, and share it.
    private func sharedTags(_ id: Int64, _ wanted: TagChoice) throws(TrackDatabaseError) -> ReaderCache.SharedTags {
        if let known = core.cache.shared(id, wanted) { return known }
        let statement = try core.database.statement("SELECT album, said, packed FROM tagset WHERE id = ?1")
        defer { statement.reset() }
        guard try statement.bind([.integer(id)]).step() else { return ReaderCache.SharedTags() }
        var shared = ReaderCache.SharedTags()
        shared.album = statement.optionalInteger(0)
        shared.saysCompilation = statement.integer(1) != 0
        try add(statement.blob(2), wanted, to: &shared.tags)
        core.cache.add(shared, id)
        return shared
    }

    private func add(
        _ packed: [UInt8], _ wanted: TagChoice, to tags: inout [TrackTag: [String]]
    ) throws(TrackDatabaseError) {
        for (number, id) in PackedValues.unpack(packed) {
            guard let tag = TrackTag(rawValue: number), wanted.contains(tag) else { continue }
            tags[tag, default: []].append(try value(id, keeps: !tag.isOwn).text)
        }
    }

    /// The text of a value.
    func value(_ id: Int64, keeps: Bool) throws(TrackDatabaseError) -> ReaderCache.Value {
        if let known = core.cache.values[id] { return known }
        let statement = try core.database.statement("SELECT tag, text FROM value WHERE id = ?1")
        defer { statement.reset() }
        guard try statement.bind([.integer(id)]).step() else { return ReaderCache.Value(tag: nil, text: "") }
        let value = ReaderCache.Value(
            tag: TrackTag(rawValue: UInt8(truncatingIfNeeded: statement.integer(0))), text: statement.text(1))
        if keeps { core.cache.add(value, id) }
        return value
    }

    /// The path of a folder.
    func folder(_ id: Int64) throws(TrackDatabaseError) -> [UInt8] {
        if let known = core.cache.folders[id] { return known }
        let statement = try core.database.statement("SELECT path FROM folder WHERE id = ?1")
        defer { statement.reset() }
        let path = try statement.bind([.integer(id)]).step() ? statement.blob(0) : []
        core.cache.add(folder: path, id)
        return path
    }

    /// The format of sound with this number.
    func format(_ id: Int64) throws(TrackDatabaseError) -> TrackFormat {
        if let known = core.cache.formats[id] { return known }
        let statement = try core.database.statement("SELECT codec, rate, sample, channels FROM format WHERE id = ?1")
        defer { statement.reset() }
        guard try statement.bind([.integer(id)]).step() else { return TrackFormat() }
        let format = TrackFormat(
            codec: statement.value(0) == .null ? nil : statement.text(0), sampleRate: statement.optionalInteger(1),
            bitsPerSample: statement.optionalInteger(2), channels: statement.optionalInteger(3))
        core.cache.add(format, id)
        return format
    }
}

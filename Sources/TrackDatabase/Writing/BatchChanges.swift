/// Changes of counts by a batch, applied once at its end, and rows that may be unused after it.
struct BatchChanges {
    private struct Count {
        var tracks: Int64 = 0
        /// Milliseconds.
        var duration: Int64 = 0

        mutating func add(_ tracks: Int64, _ duration: Int64) {
            self.tracks += tracks
            self.duration += duration
        }
    }

    /// A set of tags in a folder.
    private struct Placement: Hashable {
        var set: Int64
        var folder: Int64
    }

    /// A text that the batch created. It is in `ordered`, with its counts, from the end of the batch on.
    struct MadeValue {
        /// Number of the value.
        var id: Int64
        var tag: TrackTag
        var folded: String
        var text: String
    }

    /// A text for the search indices.
    private struct Document {
        var number: Int64
        var folded: String
    }

    private var made: [WriterCache.ValueKey: MadeValue] = [:]
    private var documents: [Document] = []
    private var oldDocuments: [Document] = []
    private var sets: [Int64: Count] = [:]
    private var placements: [Placement: Count] = [:]
    private var values: [Int64: Count] = [:]
    private var unusedSets: Set<Int64> = []
    private var unusedValues: Set<Int64> = []
    private var unusedFolders: Set<Int64> = []
    /// True if rows were removed whose numbers may be reused later.
    private var removes = false
    /// True if anything was written.
    private(set) var isChanged = false

    /// Notes a change besides tracks.
    mutating func noteChange() { isChanged = true }

    /// The number of a text that the batch created; nil: it did not create it.
    func made(_ key: WriterCache.ValueKey) -> Int64? { made[key]?.id }

    /// Adds a text to the search indices at the end of the batch.
    mutating func index(_ folded: String, _ document: Int64) {
        documents.append(Document(number: document, folded: folded))
    }

    /// Keeps a text that the batch created.
    mutating func note(_ value: MadeValue, _ key: WriterCache.ValueKey) { made[key] = value }

    /// Counts a track of a set in a folder with values of its own; `tracks`: 1 or −1, `duration` in milliseconds.
    mutating func count(set: Int64, folder: Int64, values own: [Int64], tracks: Int64, duration: Int64) {
        isChanged = true
        placements[Placement(set: set, folder: folder), default: Count()].add(tracks, duration)
        sets[set, default: Count()].add(tracks, duration)
        for value in own { values[value, default: Count()].add(tracks, duration) }
    }

    /// Notes rows that a track no longer refers to; `folder` is nil if the track stays there.
    mutating func mayBeUnused(folder: Int64?, set: Int64, values own: [Int64]) {
        if let folder { unusedFolders.insert(folder) }
        isChanged = true
        unusedSets.insert(set)
        unusedValues.formUnion(own)
    }

    /// Writes all changes.
    mutating func apply(_ database: SQLiteDatabase, _ cache: WriterCache) throws(TrackDatabaseError) {
        var albums: [Int64: Count] = [:]
        var total = Count()
        for (set, count) in sets {
            total.add(count.tracks, count.duration)
            let statement = try database.statement("SELECT album, packed FROM tagset WHERE id = ?1")
            guard try statement.bind([.integer(set)]).step() else { continue }
            let album = statement.optionalInteger(0)
            let packed = statement.blob(1)
            statement.reset()
            for value in PackedValues.unpack(packed) {
                values[value.value, default: Count()].add(count.tracks, count.duration)
            }
            if let album { albums[album, default: Count()].add(count.tracks, count.duration) }
            if count.tracks == 0, count.duration == 0 { continue }
            try database.run(
                "UPDATE tagset SET tracks = tracks + ?2, duration = duration + ?3 WHERE id = ?1", .integer(set),
                .integer(count.tracks), .integer(count.duration))
        }
        try place(database)
        try putMade(database)
        for (value, count) in values where count.tracks != 0 || count.duration != 0 {
            try Self.count(value, count, database)
        }
        for (name, change) in [("tracks", total.tracks), ("duration", total.duration)] where change != 0 {
            try database.run(
                "UPDATE meta SET number = number + ?2 WHERE name = ?1", .text(name), .integer(change))
        }
        try removeSets(database, &albums)
        for value in unusedValues { try removeIfUnused(value: value, database) }
        for folder in unusedFolders { try removeIfEmpty(folder: folder, database) }
        try Self.write(documents, isRemoval: false, database)
        try Self.write(oldDocuments, isRemoval: true, database)
        if removes { try database.run("UPDATE meta SET number = number + 1 WHERE name = 'removed'") }
        for (album, count) in albums { try Self.update(album: album, count, database) }
        if !unusedSets.isEmpty { cache.removeAll() }
    }

    private func place(_ database: SQLiteDatabase) throws(TrackDatabaseError) {
        for (place, count) in placements where count.tracks != 0 || count.duration != 0 {
            try database.run(
                """
                INSERT INTO placement VALUES(?1, ?2, ?3, ?4) ON CONFLICT(tagset, folder)
                DO UPDATE SET tracks = tracks + excluded.tracks, duration = duration + excluded.duration
                """, .integer(place.set), .integer(place.folder), .integer(count.tracks), .integer(count.duration))
            guard count.tracks < 0 else { continue }
            try database.run(
                "DELETE FROM placement WHERE tagset = ?1 AND folder = ?2 AND tracks = 0", .integer(place.set),
                .integer(place.folder))
        }
    }

    /// Inserts the created texts in their order, so that each page is written once.
    private mutating func putMade(_ database: SQLiteDatabase) throws(TrackDatabaseError) {
        let sorted = made.values.sorted { one, other in
            one.tag == other.tag
                ? one.folded.utf8.lexicographicallyPrecedes(other.folded.utf8) : one.tag.rawValue < other.tag.rawValue
        }
        for value in sorted {
            let count = values.removeValue(forKey: value.id) ?? Count()
            try database.run(
                "INSERT INTO ordered VALUES(?1, ?2, ?3, ?4, ?5, ?6)", .integer(Int64(value.tag.rawValue)),
                .text(value.folded), .text(SpellingMark.mark(value.text, value.folded)), .integer(value.id),
                .integer(count.tracks),
                .integer(count.duration))
        }
        made = [:]
    }

    private static func count(_ value: Int64, _ count: Count, _ database: SQLiteDatabase) throws(TrackDatabaseError) {
        guard let (tag, text) = try text(of: value, database) else { return }
        let folded = Folding.fold(text)
        try database.run(
            """
            UPDATE ordered SET tracks = tracks + ?4, duration = duration + ?5
            WHERE tag = ?1 AND folded = ?2 AND spelling = ?3
            """, .integer(tag), .text(folded), .text(SpellingMark.mark(text, folded)), .integer(count.tracks),
            .integer(count.duration))
    }

    private static func text(
        of value: Int64, _ database: SQLiteDatabase
    ) throws(TrackDatabaseError) -> (tag: Int64, text: String)? {
        let statement = try database.statement("SELECT tag, text FROM value WHERE id = ?1")
        defer { statement.reset() }
        return try statement.bind([.integer(value)]).step() ? (statement.integer(0), statement.text(1)) : nil
    }

    private mutating func removeSets(
        _ database: SQLiteDatabase, _ albums: inout [Int64: Count]
    ) throws(TrackDatabaseError) {
        for set in unusedSets {
            if try database.number("SELECT 1 FROM track WHERE tagset = ?1 LIMIT 1", .integer(set)) != nil { continue }
            let statement = try database.statement("SELECT album, packed FROM tagset WHERE id = ?1")
            guard try statement.bind([.integer(set)]).step() else { continue }
            if let album = statement.optionalInteger(0) { albums[album, default: Count()].add(0, 0) }
            let packed = PackedValues.unpack(statement.blob(1))
            statement.reset()
            for (index, value) in packed.enumerated() {
                let place: Int64 = index > 0 && packed[index - 1].tag == value.tag ? 1 : 0
                try database.run(
                    "DELETE FROM tagset_value WHERE value = ?1 AND place = ?2 AND tagset = ?3", .integer(value.value),
                    .integer(place), .integer(set))
                unusedValues.insert(value.value)
            }
            try database.run("DELETE FROM tagset WHERE id = ?1", .integer(set))
        }
    }

    private mutating func removeIfUnused(value: Int64, _ database: SQLiteDatabase) throws(TrackDatabaseError) {
        for query in [
            "SELECT 1 FROM tagset_value WHERE value = ?1 LIMIT 1", "SELECT 1 FROM track WHERE title = ?1 LIMIT 1",
            "SELECT 1 FROM own_value WHERE value = ?1 LIMIT 1",
        ] where try database.number(query, .integer(value)) != nil { return }
        guard let (number, text) = try Self.text(of: value, database) else { return }
        removes = true
        let folded = Folding.fold(text)
        if let kind = TrackTag(rawValue: UInt8(clamping: number))?.searchKind {
            oldDocuments.append(Document(number: kind.document(value), folded: folded))
        }
        try database.run(
            "DELETE FROM ordered WHERE tag = ?1 AND folded = ?2 AND spelling = ?3", .integer(number), .text(folded),
            .text(SpellingMark.mark(text, folded)))
        try database.run("DELETE FROM value WHERE id = ?1", .integer(value))
    }

    /// Writes texts into the search indices, or removes them, in the order of their numbers: FTS5 writes its buffer
    /// whenever a number is less than the previous one.
    private static func write(
        _ documents: [Document], isRemoval: Bool, _ database: SQLiteDatabase
    ) throws(TrackDatabaseError) {
        let sorted = documents.sorted { $0.number < $1.number }
        for (table, column) in [("word", "words"), ("part", "folded")] {
            let sql =
                isRemoval
                ? "INSERT INTO \(table)(\(table), rowid, \(column)) VALUES('delete', ?1, ?2)"
                : "INSERT INTO \(table)(rowid, \(column)) VALUES(?1, ?2)"
            for document in sorted {
                let text = table == "word" ? SearchWords.indexText(document.folded) : document.folded
                try database.run(sql, .integer(document.number), .text(text))
            }
        }
    }

    /// Removes a folder without tracks and folders, and then each folder above it that is empty too.
    private mutating func removeIfEmpty(
        folder: Int64, _ database: SQLiteDatabase
    ) throws(TrackDatabaseError) {
        var folder = folder
        while folder != 1 {
            if try database.number("SELECT 1 FROM track WHERE folder = ?1 LIMIT 1", .integer(folder)) != nil { return }
            let statement = try database.statement("SELECT path FROM folder WHERE id = ?1")
            guard try statement.bind([.integer(folder)]).step() else { return }
            let path = statement.blob(0)
            statement.reset()
            var children = FolderChildren(database, in: path)
            if try children.next() != nil { return }
            let place = TrackPath(path)
            oldDocuments.append(
                Document(number: SearchKind.folder.document(folder), folded: Folding.fold(bytes: place.name)))
            try database.run("DELETE FROM folder WHERE id = ?1", .integer(folder))
            removes = true
            let above = try database.number("SELECT id FROM folder WHERE path = ?1", .blob(place.folder))
            guard let above else { return }
            folder = above
        }
    }

    /// Updates the counts of an album, and its artist from its sets; an album without sets is removed.
    private static func update(
        album: Int64, _ count: Count, _ database: SQLiteDatabase
    ) throws(TrackDatabaseError) {
        var artists: Set<Int64?> = []
        var albumArtist: Int64?
        var saysCompilation = false
        var isEmpty = true
        let statement = try database.statement(
            """
            SELECT firstOf(packed, \(TrackTag.albumArtist.rawValue)), firstOf(packed, \(TrackTag.artist.rawValue)), said
            FROM tagset WHERE album = ?1
            """)
        try statement.bind([.integer(album)])
        while try statement.step() {
            isEmpty = false
            albumArtist = albumArtist ?? statement.optionalInteger(0)
            artists.insert(statement.optionalInteger(1))
            saysCompilation = saysCompilation || statement.integer(2) != 0
        }
        statement.reset()
        if isEmpty { return try database.run("DELETE FROM album WHERE id = ?1", .integer(album)) }
        let isVarious = saysCompilation || albumArtist == nil && artists.count > 1
        let artist = albumArtist ?? (isVarious ? nil : artists.first ?? nil)
        try database.run(
            """
            UPDATE album SET artist = ?2, various = ?3, tracks = tracks + ?4, duration = duration + ?5 WHERE id = ?1
            """, .integer(album), .optional(artist), .integer(isVarious ? 1 : 0), .integer(count.tracks),
            .integer(count.duration))
    }
}

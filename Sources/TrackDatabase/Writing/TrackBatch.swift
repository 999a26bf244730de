import NowPlaying

/// Changes of a writer in one transaction. It must not outlive the transaction.
package final class TrackBatch {
    let database: SQLiteDatabase
    let cache: WriterCache
    private var changes = BatchChanges()

    /// A batch of a writer, within its transaction.
    init(_ database: SQLiteDatabase, _ cache: WriterCache) {
        self.database = database
        self.cache = cache
    }

    /// Inserts a track, or replaces the one of its path, which keeps its number, `added` and feedback. Returns its
    /// number.
    /// - Parameter added: seconds since 1970, for a new one.
    @discardableResult
    package func put(_ record: TrackRecord, added: Double) throws(TrackDatabaseError) -> Int64 {
        let folder = try folderId(record.path.folder)
        let old = try oldTrack("folder = ?1 AND name = ?2", .integer(folder), .blob(record.path.name))
        return try put(record, folder: folder, old: old, added: added)
    }

    /// Replaces a track under another path: its file was moved. A track at the new path is removed.
    package func move(_ id: Int64, to record: TrackRecord) throws(TrackDatabaseError) {
        let folder = try folderId(record.path.folder)
        if let other = try oldTrack("folder = ?1 AND name = ?2", .integer(folder), .blob(record.path.name)),
            other.id != id
        {
            try remove(other)
        }
        guard let old = try oldTrack("id = ?1", .integer(id)) else { return }
        try put(record, folder: folder, old: old, added: 0)
    }

    /// Marks tracks as missing or present. Missing tracks are in no answer and in no count.
    package func setMissing(_ isMissing: Bool, ids: some Sequence<Int64>) throws(TrackDatabaseError) {
        for id in ids {
            guard let old = try oldTrack("id = ?1", .integer(id)), old.isMissing != isMissing else { continue }
            count(old, isMissing ? -1 : 1)
            let flags = isMissing ? "flags | \(TrackFlags.missing)" : "flags & ~\(TrackFlags.missing)"
            try database.run("UPDATE track SET flags = \(flags) WHERE id = ?1", .integer(id))
        }
    }

    /// Removes tracks, with their feedback.
    package func remove(ids: some Sequence<Int64>) throws(TrackDatabaseError) {
        for id in ids {
            if let old = try oldTrack("id = ?1", .integer(id)) { try remove(old) }
        }
    }

    /// Sets the hash of a track's sound.
    package func setIdentity(_ identity: Int64?, of id: Int64) throws(TrackDatabaseError) {
        try database.run("UPDATE track SET identity = ?2 WHERE id = ?1", .integer(id), .optional(identity))
        if let identity { try applyMirror(identity, to: id) }
        noteChange()
    }

    /// Sets the daemon's feedback. A rating is clamped to 0 to 5.
    package func setFeedback(_ feedback: TrackFeedback, of id: Int64) throws(TrackDatabaseError) {
        noteChange()
        guard feedback != TrackFeedback() else {
            return try database.run("DELETE FROM feedback WHERE track = ?1", .integer(id))
        }
        let values = Self.columns(feedback)
        try database.run(
            "INSERT OR REPLACE INTO feedback VALUES(?1, ?2, ?3, ?4, ?5, ?6)", .integer(id), values[0], values[1],
            values[2], values[3], values[4])
    }

    /// Updates counts and removes unused rows. False: nothing was changed.
    func finish() throws(TrackDatabaseError) -> Bool {
        try changes.apply(database, cache)
        return changes.isChanged
    }

    /// Notes a change of the batch besides tracks.
    func noteChange() { changes.noteChange() }

    /// The number of a text that the batch created; nil: it did not create it.
    func made(_ key: WriterCache.ValueKey) -> Int64? { changes.made(key) }

    /// Adds a text to the search indices at the end of the batch.
    func index(_ folded: String, _ document: Int64) { changes.index(folded, document) }

    /// Keeps a text that the batch created.
    func note(_ value: BatchChanges.MadeValue, _ key: WriterCache.ValueKey) { changes.note(value, key) }

    private func count(_ track: OldTrack, _ sign: Int64) {
        changes.count(
            set: track.set, folder: track.folder, values: ([track.title].compactMap { $0 }) + track.own, tracks: sign,
            duration: sign * track.duration)
    }

    private func remove(_ old: OldTrack) throws(TrackDatabaseError) {
        if !old.isMissing { count(old, -1) }
        changes.mayBeUnused(folder: old.folder, set: old.set, values: ([old.title].compactMap { $0 }) + old.own)
        for value in old.own {
            try database.run("DELETE FROM own_value WHERE value = ?1 AND track = ?2", .integer(value), .integer(old.id))
        }
        try database.run("DELETE FROM feedback WHERE track = ?1", .integer(old.id))
        try database.run("DELETE FROM loudness WHERE track = ?1", .integer(old.id))
        try database.run("DELETE FROM track WHERE id = ?1", .integer(old.id))
    }

    @discardableResult
    private func put(
        _ record: TrackRecord, folder: Int64, old: OldTrack?, added: Double
    ) throws(TrackDatabaseError) -> Int64 {
        var shared: [(tag: UInt8, value: Int64)] = []
        var own: [(tag: UInt8, value: Int64)] = []
        var title: Int64?
        for tag in TrackTag.allCases {
            guard let texts = record.tags[tag] else { continue }
            for text in Spelling.kept(texts) {
                let value = try valueId(tag, text)
                // Texts that were cut may be equal.
                if texts.count > 1, value == title || (shared + own).contains(where: { $0.value == value }) { continue }
                if tag == .title, title == nil {
                    title = value
                } else if tag.isOwn {
                    own.append((tag.rawValue, value))
                } else {
                    shared.append((tag.rawValue, value))
                }
            }
        }
        let isNamedByFile = title == nil
        if isNamedByFile { title = try valueId(.title, record.path.stem) }
        let set = try setId(shared, try albumId(record, shared), saysCompilation: record.isCompilation)
        let duration = TrackNumbersBlob.milliseconds(record.duration)
        let values: [SQLiteValue] = [
            .optional(old?.id), .integer(folder), .blob(record.path.name), .integer(set), .optional(title),
            .optional(record.numbers.discNumber), .optional(record.numbers.trackNumber), .optional(duration),
            .optional(try formatId(record.format)),
            .integer(Self.flags(record, isNamedByFile: isNamedByFile)),
            .integer(old?.added ?? Int64(clamping: added)), .integer(record.file.modified), .integer(record.file.size),
            .integer(record.file.inode), .optional(record.identity),
            own.isEmpty ? .null : .blob(PackedValues.pack(own)), TrackNumbersBlob.pack(record),
        ]
        let before = try old.flatMap { old throws(TrackDatabaseError) in
            try database.number("SELECT identity FROM track WHERE id = ?1", .integer(old.id))
        }
        // With the same tags, only the row changes.
        let isSame = old.map { old in
            old.set == set && old.title == title && old.own == own.map(\.value) && old.folder == folder
                && old.duration == duration ?? 0 && !old.isMissing
        }
        if isSame == true { noteChange() }
        if let old, isSame == false {
            if !old.isMissing { count(old, -1) }
            changes.mayBeUnused(
                folder: old.folder == folder ? nil : old.folder, set: old.set,
                values: ([old.title].compactMap { $0 }) + old.own)
            for value in old.own {
                try database.run(
                    "DELETE FROM own_value WHERE value = ?1 AND track = ?2", .integer(value), .integer(old.id))
            }
        }
        if old != nil {
            let statement = try database.statement(
                """
                UPDATE track SET folder = ?2, name = ?3, tagset = ?4, title = ?5, disc = ?6, number = ?7, duration = ?8,
                format = ?9, flags = ?10, added = ?11, modified = ?12, size = ?13, inode = ?14, identity = ?15,
                own = ?16, extra = ?17 WHERE id = ?1
                """)
            _ = try statement.bind(values).step()
            statement.reset()
        } else {
            let statement = try database.statement(
                """
                INSERT INTO track VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
                """)
            _ = try statement.bind(values).step()
            statement.reset()
        }
        let id = old?.id ?? database.lastId
        for value in own where isSame != true {
            try database.run("INSERT OR IGNORE INTO own_value VALUES(?1, ?2)", .integer(value.value), .integer(id))
        }
        if let identity = record.identity, identity != before { try applyMirror(identity, to: id) }
        if isSame == true { return id }
        changes.count(
            set: set, folder: folder, values: ([title].compactMap { $0 }) + own.map(\.value), tracks: 1,
            duration: duration ?? 0)
        return id
    }

    private static func flags(_ record: TrackRecord, isNamedByFile: Bool) -> Int64 {
        (record.hasLyrics ? TrackFlags.hasLyrics : 0) | (record.hasPicture ? TrackFlags.hasPicture : 0)
            | (isNamedByFile ? TrackFlags.isNamedByFile : 0) | (record.isUnreadable ? TrackFlags.isUnreadable : 0)
    }

    /// A track before its change.
    private struct OldTrack {
        var id: Int64
        var folder: Int64
        var set: Int64
        var title: Int64?
        var own: [Int64]
        /// Milliseconds.
        var duration: Int64
        /// Seconds since 1970.
        var added: Int64
        var isMissing: Bool
    }

    private func oldTrack(_ condition: String, _ values: SQLiteValue...) throws(TrackDatabaseError) -> OldTrack? {
        let statement = try database.statement(
            "SELECT id, tagset, title, own, duration, added, flags, folder FROM track WHERE \(condition)")
        defer { statement.reset() }
        guard try statement.bind(values).step() else { return nil }
        return OldTrack(
            id: statement.integer(0), folder: statement.integer(7), set: statement.integer(1),
            title: statement.optionalInteger(2), own: PackedValues.unpack(statement.blob(3)).map(\.value),
            duration: statement.integer(4),
            added: statement.integer(5), isMissing: statement.integer(6) & TrackFlags.missing != 0)
    }
}

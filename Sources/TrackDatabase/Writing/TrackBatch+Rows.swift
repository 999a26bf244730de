/// Rows that tracks share; each function finds or creates a row.
extension TrackBatch {
    /// The number of a folder; creates it and the folders above it if necessary.
    func folderId(_ path: [UInt8]) throws(TrackDatabaseError) -> Int64 {
        if path.isEmpty { return 1 }
        if let known = cache.folders[path] { return known }
        if let found = try database.number("SELECT id FROM folder WHERE path = ?1", .blob(path)) {
            cache.add(folder: path, found)
            return found
        }
        let place = TrackPath(path)
        _ = try folderId(place.folder)
        try database.run("INSERT INTO folder(path) VALUES(?1)", .blob(path))
        let id = database.lastId
        cache.add(folder: path, id)
        index(Folding.fold(bytes: place.name), SearchKind.folder.document(id))
        return id
    }

    /// The number of a text of a tag. A text that is too long is cut between characters.
    func valueId(_ tag: TrackTag, _ text: String) throws(TrackDatabaseError) -> Int64 {
        let text = text.utf8.count <= TrackWriter.longestText ? text : Self.cut(text)
        let key = WriterCache.ValueKey(tag: tag, text: Spelling(text))
        if let known = cache.values[key] ?? made(key) { return known }
        let folded = Folding.fold(text)
        let number = SQLiteValue.integer(Int64(tag.rawValue))
        if let found = try database.number(
            "SELECT id FROM ordered WHERE tag = ?1 AND folded = ?2 AND spelling = ?3", number, .text(folded),
            .text(SpellingMark.mark(text, folded)))
        {
            cache.add(key, found)
            return found
        }
        try database.run("INSERT INTO value(tag, text) VALUES(?1, ?2)", number, .text(text))
        let id = database.lastId
        note(BatchChanges.MadeValue(id: id, tag: tag, folded: folded, text: text), key)
        if let kind = tag.searchKind { index(folded, kind.document(id)) }
        cache.add(key, id)
        return id
    }

    /// The number of a format; nil: the format is unknown.
    func formatId(_ format: TrackFormat) throws(TrackDatabaseError) -> Int64? {
        guard format != TrackFormat() else { return nil }
        if let known = cache.formats[format] { return known }
        let values: [SQLiteValue] = [
            format.codec.map { .text($0) } ?? .null, .optional(format.sampleRate), .optional(format.bitsPerSample),
            .optional(format.channels),
        ]
        let statement = try database.statement(
            "SELECT id FROM format WHERE codec IS ?1 AND rate IS ?2 AND sample IS ?3 AND channels IS ?4")
        let found = try statement.bind(values).step() ? statement.integer(0) : nil
        statement.reset()
        if found == nil {
            try database.run(
                "INSERT INTO format VALUES(NULL, ?1, ?2, ?3, ?4)", values[0], values[1], values[2], values[3])
        }
        let id = found ?? database.lastId
        cache.add(format, id)
        return id
    }

    /// The number of a track's album; nil: it is on no album.
    func albumId(
        _ record: TrackRecord, _ shared: [(tag: UInt8, value: Int64)]
    ) throws(TrackDatabaseError) -> Int64? {
        guard let titles = record.tags[.album] else { return nil }
        let source = WriterCache.AlbumSource(
            titles: titles, artists: record.tags[.albumArtist], releases: record.tags[.musicBrainzAlbumId],
            folder: record.path.folder)
        if let last = cache.lastAlbum, last.source == source { return last.id }
        guard let key = AlbumKey(record), let title = shared.first(where: { $0.tag == TrackTag.album.rawValue }) else {
            return nil
        }
        let id = try albumId(key, title.value)
        cache.keep(source, id)
        return id
    }

    private func albumId(_ key: AlbumKey, _ title: Int64) throws(TrackDatabaseError) -> Int64 {
        if let known = cache.albums[key] { return known }
        if let found = try database.number("SELECT id FROM album WHERE key = ?1", .blob(key.bytes)) {
            cache.add(key, found)
            return found
        }
        try database.run(
            "INSERT INTO album VALUES(NULL, ?1, ?2, NULL, 0, 0, 0)", .blob(key.bytes), .integer(title))
        let id = database.lastId
        cache.add(key, id)
        return id
    }

    /// The number of a set of tags; creates it with its references if necessary.
    func setId(
        _ values: [(tag: UInt8, value: Int64)], _ album: Int64?, saysCompilation: Bool
    ) throws(TrackDatabaseError) -> Int64 {
        let packed = PackedValues.pack(values)
        let key = WriterCache.SetKey(album: album, saysCompilation: saysCompilation, packed: packed)
        if let known = cache.sets[key] { return known }
        let hash = Self.hash(packed, album)
        let said = SQLiteValue.integer(saysCompilation ? 1 : 0)
        if let found = try database.number(
            "SELECT id FROM tagset WHERE hash = ?1 AND packed = ?2 AND album IS ?3 AND said = ?4", .integer(hash),
            .blob(packed), .optional(album), said)
        {
            cache.add(key, found)
            return found
        }
        let tags = values.reduce(Int64(0)) { $0 | 1 << Int64($1.tag) }
        try database.run(
            "INSERT INTO tagset VALUES(NULL, ?1, ?2, ?3, ?4, ?5, 0, 0)", .integer(hash), .optional(album),
            .integer(tags), said, .blob(packed))
        let id = database.lastId
        var last: UInt8 = 0
        for value in values {
            try database.run(
                "INSERT INTO tagset_value VALUES(?1, ?2, ?3)", .integer(value.value),
                .integer(value.tag == last ? 1 : 0), .integer(id))
            last = value.tag
        }
        cache.add(key, id)
        return id
    }

    private static func cut(_ text: String) -> String {
        var bytes = Array(text.utf8.prefix(TrackWriter.longestText))
        while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
        if bytes.last ?? 0 >= 0xC0 { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// FNV-1a, the same in every run. 24 bits make the index small; the values of the rows are compared too.
    private static func hash(_ packed: [UInt8], _ album: Int64?) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(bitPattern: album ?? 0)
        for byte in packed { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return Int64(hash >> 24 & 0xFF_FFFF)
    }
}

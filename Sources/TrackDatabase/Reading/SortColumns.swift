/// Columns of SQL by which tracks are sorted, of `track t` and `tagset s`. None of them is ever NULL: a missing value
/// is `SortColumn.last`, which sorts after all others in its direction.
struct SortColumn {
    /// An expression.
    var sql: String
    var isFalling: Bool
    /// True if the column is equal in all rows; it is neither sorted nor compared.
    var isConstant = false

    /// Stands for a missing value. Blobs sort after numbers and texts, and −∞ before them.
    static func last(isFalling: Bool) -> String { isFalling ? "-9e999" : "x''" }
}

/// Makes columns of fields.
enum SortColumns {
    /// The column of a number.
    static func number(_ field: FilterField.NumberField) -> String {
        switch field {
        case .duration: "t.duration"
        case .sampleRate: "(SELECT rate FROM format WHERE id = t.format)"
        case .bitsPerSample: "(SELECT sample FROM format WHERE id = t.format)"
        case .channels: "(SELECT channels FROM format WHERE id = t.format)"
        case .trackNumber: "t.number"
        case .discNumber: "t.disc"
        case .rating: "(SELECT rating FROM feedback WHERE track = t.id)"
        case .playCount: "ifnull((SELECT plays FROM feedback WHERE track = t.id), 0)"
        case .skipCount: "ifnull((SELECT skips FROM feedback WHERE track = t.id), 0)"
        }
    }

    /// The column of a time.
    static func time(_ field: FilterField.TimeField) -> String {
        switch field {
        case .added: "t.added"
        case .modified: "t.modified"
        case .lastPlayed: "(SELECT played FROM feedback WHERE track = t.id)"
        }
    }

    /// The columns of a key without an index of its order.
    static func columns(_ key: SortKey) -> [SortColumn] {
        if key.field == .albums { return albums(isFalling: key.isFalling) }
        let last = SortColumn.last(isFalling: key.isFalling)
        let sql: [String] =
            switch key.field {
            case .tag(let tag): text(tag).map { "ifnull(\($0), \(last))" }
            case .uri: ["(SELECT path FROM folder WHERE id = t.folder)", "t.name"]
            case .number(let field): ["ifnull(\(number(field)), \(last))"]
            case .time(let field): ["ifnull(\(time(field)), \(last))"]
            case .albums: []
            }
        return sql.map { SortColumn(sql: $0, isFalling: key.isFalling) }
    }

    /// The columns of the order of albums. Its date is that of the album, as tracks of one album may have others.
    private static func albums(isFalling: Bool) -> [SortColumn] {
        let dates =
            "ifnull((\(AlbumDate.sql(album: "s.album"))), (SELECT text FROM value WHERE id = "
            + "firstOf(s.packed, \(TrackTag.date.rawValue))))"
        let last = SortColumn.last(isFalling: isFalling)
        let albums = (text(.albumArtist) + [dates] + text(.album) + ["s.album"]).map {
            SortColumn(sql: "ifnull(\($0), \(last))", isFalling: isFalling)
        }
        let tracks = [
            SortColumns.number(.discNumber), SortColumns.number(.trackNumber),
            "(SELECT path FROM folder WHERE id = t.folder)", "t.name",
        ]
        return albums
            + tracks.map { SortColumn(sql: "ifnull(\($0), \(SortColumn.last(isFalling: false)))", isFalling: false) }
    }

    private static func text(_ tag: TrackTag) -> [String] {
        let id =
            tag == .title
            ? "t.title" : tag.isOwn ? "firstOf(t.own, \(tag.rawValue))" : "firstOf(s.packed, \(tag.rawValue))"
        let text = "(SELECT text FROM value WHERE id = \(id))"
        return ["fold(\(text))", "spelling(\(text))"]
    }
}

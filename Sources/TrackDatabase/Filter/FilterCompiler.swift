import NowPlaying

/// Makes conditions of SQL from filters. It looks up texts of tags first; the remaining condition tests the numbers of
/// values.
struct FilterCompiler {
    let database: SQLiteDatabase
    /// Cache of the folders of earlier filters; nil: none.
    let cache: ReaderCache?
    /// Approximate number of tracks in the library.
    let total: Double
    /// Seconds since 1970, the reference for ages.
    let now: Int64

    /// The condition of a filter.
    func compile(_ filter: TrackFilter) throws(TrackDatabaseError) -> CompiledFilter {
        switch filter {
        case .all(let filters): return try all(filters)
        case .any(let filters): return try any(filters)
        case .not(let filter):
            let inner = try compile(filter)
            return .plain(
                "NOT (\(inner.sql))", inner.values, asksTracks: inner.asksTracks, share: max(0, 1 - inner.share))
        case .test(let field, let test): return try compile(field, test)
        case .album(let id):
            let tracks = try database.number("SELECT tracks FROM album WHERE id = ?1", .integer(id)) ?? 0
            return CompiledFilter(
                sql: "ifnull(s.album = @, 0)", values: [.integer(id)], asksTracks: false,
                share: Double(tracks) / max(total, 1), driver: .album(id), driven: Double(tracks))
        }
    }

    private func all(_ filters: [TrackFilter]) throws(TrackDatabaseError) -> CompiledFilter {
        var parts: [CompiledFilter] = []
        var late: [TrackFilter] = []
        for filter in filters {
            if Self.looksAtTitles(filter) { late.append(filter) } else { parts.append(try compile(filter)) }
        }
        let isNarrow = parts.contains { $0.driver != nil && $0.driven <= Self.few }
        for filter in late { parts.append(isNarrow ? Self.eachTitle(filter) : try compile(filter)) }
        return .all(parts)
    }

    /// Tracks whose titles are tested one by one rather than found by the index, at most.
    private static let few = 5000.0

    /// True for filters that would look up many titles: most texts are titles.
    private static func looksAtTitles(_ filter: TrackFilter) -> Bool {
        if case .test(.tag(.title), .contains) = filter { return true }
        return false
    }

    /// A test of a track's own titles, without a lookup of all titles.
    private static func eachTitle(_ filter: TrackFilter) -> CompiledFilter {
        guard case .test(_, .contains(let text)) = filter else { return .constant(false) }
        let folded = SQLiteValue.text(Folding.fold(text))
        let sql = """
            EXISTS(SELECT 1 FROM value v WHERE v.id = t.title AND instr(fold(v.text), @) > 0)
            OR t.own IS NOT NULL AND EXISTS(SELECT 1 FROM json_each(unpacked(t.own)) j CROSS JOIN value v
                ON v.id = j.value AND v.tag = \(TrackTag.title.rawValue) AND instr(fold(v.text), @) > 0)
            """
        return .plain(sql, [folded, folded], share: 0.1)
    }

    private func any(_ filters: [TrackFilter]) throws(TrackDatabaseError) -> CompiledFilter {
        var result = CompiledFilter.constant(false)
        var drivers: [CompiledFilter.Driver]? = []
        for filter in filters {
            let part = try compile(filter)
            result.sql += " OR (\(part.sql))"
            result.values += part.values
            result.asksTracks = result.asksTracks || part.asksTracks
            result.share = min(1, result.share + part.share)
            result.driven += part.driven
            if let driver = part.driver { drivers?.append(driver) } else { drivers = nil }
        }
        result.driver = drivers.flatMap(Self.union)
        return result
    }

    /// One driver in place of several; nil: their kinds cannot be combined.
    private static func union(_ drivers: [CompiledFilter.Driver]) -> CompiledFilter.Driver? {
        var shared: [Int64] = []
        var own: [Int64] = []
        var folders: [Int64] = []
        for driver in drivers {
            switch driver {
            case .values(let ids): shared += ids
            case .own(let ids): own += ids
            case .folders(let ids): folders += ids
            case .album: return nil
            }
        }
        if !folders.isEmpty { return shared.isEmpty && own.isEmpty ? .folders(Array(Set(folders))) : nil }
        if own.isEmpty { return .values(shared) }
        return shared.isEmpty ? .own(own) : nil
    }

    private func compile(_ field: FilterField, _ test: FilterTest) throws(TrackDatabaseError) -> CompiledFilter {
        switch field {
        case .tag(let tag): return try compile(tag, test)
        case .anyTag:
            var found = FoundValues()
            for tag in TrackTag.allCases where !tag.name.hasPrefix("musicBrainz") {
                found.add(try ValueLookup(database: database, tag: tag).find(test))
            }
            let set = SQLiteValue.ids(IdSet(found.ids))
            return .plain(
                "holdsAny(s.packed, @) OR holds(t.title, @) OR holdsAny(t.own, @)", [set, set, set],
                share: share(found.tracks))
        case .path(let field): return try compile(field, test)
        case .codec:
            let column = "(SELECT codec FROM format WHERE id = t.format)"
            return try text(column, test, isMissing: "\(column) IS NULL")
        case .number(let field): return number(field, test)
        case .time(let field): return time(field, test)
        case .flag(let field): return flag(field, test)
        }
    }

    private func share(_ tracks: Double) -> Double { min(1, tracks / max(total, 1)) }

    private func compile(_ tag: TrackTag, _ test: FilterTest) throws(TrackDatabaseError) -> CompiledFilter {
        if case .missing(let isMissing) = test {
            let sql =
                tag == .title
                ? "(t.flags & \(TrackFlags.isNamedByFile)) <> 0"
                : tag.isOwn ? "firstOf(t.own, \(tag.rawValue)) IS NULL" : "(s.tags & \(tag.bit)) = 0"
            return .plain(isMissing ? sql : "NOT (\(sql))", [], asksTracks: tag.isOwn, share: 0.5)
        }
        let found = try ValueLookup(database: database, tag: tag).find(test)
        if found.ids.isEmpty { return .constant(false) }
        let set = SQLiteValue.ids(IdSet(found.ids))
        let sql =
            tag == .title
            ? "holds(t.title, @) OR holdsAny(t.own, @)"
            : tag.isOwn ? "holdsAny(t.own, @)" : "holdsAny(s.packed, @)"
        return CompiledFilter(
            sql: sql, values: tag == .title ? [set, set] : [set], asksTracks: tag.isOwn, share: share(found.tracks),
            driver: tag.isOwn ? .own(found.ids) : .values(found.ids), driven: found.tracks)
    }

    private func compile(
        _ field: FilterField.PathField, _ test: FilterTest
    ) throws(TrackDatabaseError) -> CompiledFilter {
        switch field {
        case .folder: return try folders(test)
        case .uri:
            if let place = test.place {
                let path = TrackPath(place)
                let inner = try compile(.folder, .place(path.folder))
                guard inner.driver != nil, inner.sql != "0" else { return inner }
                return CompiledFilter(
                    sql: "\(inner.sql) AND t.name = @", values: inner.values + [.blob(path.name)], asksTracks: true,
                    share: share(1), folders: inner.folders, driver: inner.driver, driven: inner.driven)
            }
            let column =
                "(SELECT CASE WHEN f.id = 1 THEN t.name ELSE CAST(f.path || x'2F' || t.name AS BLOB) END "
                + "FROM folder f WHERE f.id = t.folder)"
            return try text(column, test, isMissing: "0")
        }
    }

    /// The condition that a track is in a folder that passes a test.
    private func folders(_ test: FilterTest) throws(TrackDatabaseError) -> CompiledFilter {
        let last = try database.number("SELECT max(id) FROM folder") ?? 1
        var found: KnownFolders
        if let known = cache?.folders(test, last: last) {
            found = known
        } else {
            found = KnownFolders(try FolderLookup(database: database).find(test), last: last)
        }
        let result = try folders(&found)
        cache?.keep(found, test)
        return result
    }

    /// The condition that a track is directly in one of these folders. It counts their tracks unless the number is
    /// known.
    func folders(_ known: inout KnownFolders) throws(TrackDatabaseError) -> CompiledFilter {
        let ids = known.ids
        guard let first = ids.first else { return .constant(false) }
        let sql = ids.count == 1 ? "t.folder = @" : "holds(t.folder, @)"
        let value = ids.count == 1 ? SQLiteValue.integer(first) : .ids(known.set)
        guard ids.count <= Self.fewFolders else {
            var result = CompiledFilter.plain(
                sql, [value], share: min(1, Double(ids.count) / Double(max(known.last, 1))))
            result.folders = known.set
            return result
        }
        let tracks = try known.tracks(of: total) { () throws(TrackDatabaseError) in
            try database.number(
                """
                SELECT count(*) FROM json_each(?1) d CROSS JOIN track t INDEXED BY track_name ON t.folder = d.value
                """, QueryPlan.json(ids)) ?? 0
        }
        return CompiledFilter(
            sql: sql, values: [value], asksTracks: true, share: share(tracks), folders: known.set,
            driver: .folders(ids), driven: tracks)
    }

    /// Folders whose tracks are counted one by one, at most.
    private static let fewFolders = 2000

    /// A test of a text that has no value number.
    private func text(
        _ column: String, _ test: FilterTest, isMissing: String
    ) throws(TrackDatabaseError) -> CompiledFilter {
        switch test {
        case .is(let text): return .plain("ifnull(\(column) = @, 0)", [.text(text)], share: 0.3)
        case .contains(let text):
            return .plain(
                "ifnull(instr(fold(\(column)), @) > 0, 0)", [.text(Folding.fold(text))], share: 0.1)
        case .startsWith(let text):
            return .plain(
                "ifnull(instr(fold(\(column)), @) = 1, 0)", [.text(Folding.fold(text))], share: 0.1)
        case .matches(let text):
            return .plain(
                "\(column) IS NOT NULL AND matches(\(column), @)", [.text(Folding.fold(text))], share: 0.1)
        case .missing(let flag): return .plain(flag ? isMissing : "NOT (\(isMissing))", [], share: 0.5)
        case .place, .below, .atLeast, .atMost, .before, .after, .equals, .numberAtLeast, .numberAtMost, .within,
            .withinAge, .isTrue:
            throw .invalid("this field has no such test", nearest: nil)
        }
    }

    private func number(_ field: FilterField.NumberField, _ test: FilterTest) -> CompiledFilter {
        let column = SortColumns.number(field)
        let scale: Double = field == .duration ? 1000 : 1
        switch test {
        case .equals(let value):
            if field == .duration {
                let milliseconds = SQLiteValue.real((value * scale).rounded())
                return .plain("ifnull(\(column) = @, 0)", [milliseconds], share: 0.01)
            }
            return .plain("ifnull(\(column) = @, 0)", [.real(value)], share: 0.2)
        case .numberAtLeast(let value):
            return .plain("ifnull(\(column) >= @, 0)", [.real(Self.product(value, scale))], share: 0.5)
        case .numberAtMost(let value):
            return .plain("ifnull(\(column) <= @, 0)", [.real(Self.product(value, scale))], share: 0.5)
        case .missing(let flag): return .plain("\(column) IS \(flag ? "" : "NOT ")NULL", [], share: 0.5)
        case .is, .place, .contains, .startsWith, .matches, .below, .atLeast, .atMost, .before, .after, .within,
            .withinAge, .isTrue:
            return .constant(false)
        }
    }

    /// A product, rounded if it is a whole number except for the rounding error.
    private static func product(_ value: Double, _ scale: Double) -> Double {
        let product = value * scale
        return abs(product - product.rounded()) < 1e-4 ? product.rounded() : product
    }

    private func time(_ field: FilterField.TimeField, _ test: FilterTest) -> CompiledFilter {
        let column = SortColumns.time(field)
        let scale: Int64 = field == .modified ? 1_000_000_000 : 1
        switch test {
        case .within(let range):
            var parts: [String] = []
            var values: [SQLiteValue] = []
            for (bound, sign) in [(range.lower, ">="), (range.upper, "<")] {
                guard let bound else { continue }
                let (product, isTooFar) = bound.multipliedReportingOverflow(by: scale)
                parts.append("\(column) \(sign) @")
                values.append(.integer(isTooFar ? (bound < 0 ? .min : .max) : product))
            }
            return .plain("ifnull(\(parts.joined(separator: " AND ")), 0)", values, share: 0.3)
        case .withinAge(let range): return time(field, .within(range.moved(by: now)))
        case .missing(let flag): return .plain("\(column) IS \(flag ? "" : "NOT ")NULL", [], share: 0.5)
        case .is, .place, .contains, .startsWith, .matches, .below, .atLeast, .atMost, .before, .after, .equals,
            .numberAtLeast, .numberAtMost, .isTrue:
            return .constant(false)
        }
    }

    private func flag(_ field: FilterField.FlagField, _ test: FilterTest) -> CompiledFilter {
        let column =
            switch field {
            case .liked: "(SELECT liked FROM feedback WHERE track = t.id)"
            case .compilation: "(s.said <> 0 OR ifnull((SELECT various FROM album WHERE id = s.album), 0) <> 0)"
            case .lyrics: "(t.flags & \(TrackFlags.hasLyrics) <> 0)"
            case .picture: "(t.flags & \(TrackFlags.hasPicture) <> 0)"
            case .unreadable: "(t.flags & \(TrackFlags.isUnreadable) <> 0)"
            }
        switch test {
        case .isTrue(let value): return .plain("ifnull(\(column) = @, 0)", [.integer(value ? 1 : 0)], share: 0.3)
        case .missing(let flag): return .plain("\(column) IS \(flag ? "" : "NOT ")NULL", [], share: 0.5)
        case .is, .place, .contains, .startsWith, .matches, .below, .atLeast, .atMost, .before, .after, .equals,
            .numberAtLeast, .numberAtMost, .within, .withinAge:
            return .constant(false)
        }
    }
}

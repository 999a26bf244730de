/// Values that pass a test, and the number of their tracks, counted once for each value.
struct FoundValues {
    /// Numbers of the values.
    private(set) var ids: [Int64] = []
    /// Tracks with these values.
    private(set) var tracks: Double = 0

    /// Adds a value by its number; `tracks`: its tracks.
    mutating func add(_ id: Int64, tracks: Int64) {
        ids.append(id)
        self.tracks += Double(tracks)
    }

    /// Adds other values.
    mutating func add(_ other: FoundValues) {
        ids += other.ids
        tracks += other.tracks
    }
}

/// Looks up the texts of one tag that pass a test.
struct ValueLookup {
    let database: SQLiteDatabase
    let tag: TrackTag

    private static let columns = "SELECT id, tracks FROM ordered WHERE tag = ?1"

    /// The values that pass a test.
    func find(_ test: FilterTest) throws(TrackDatabaseError) -> FoundValues {
        switch test {
        case .is(let text):
            let folded = Folding.fold(text)
            return try rows(
                "\(Self.columns) AND folded = ?2 AND spelling = ?3",
                [.text(folded), .text(SpellingMark.mark(text, folded))])
        case .contains(let text):
            let folded = Folding.fold(text)
            if tag.searchKind != nil, folded.unicodeScalars.count >= 3 { return try indexed(folded) }
            return try rows("\(Self.columns) AND instr(folded, ?2) > 0", [.text(folded)])
        case .startsWith(let text): return try beginning(Folding.fold(text), "", [])
        case .matches(let text):
            let pattern = TextPattern(folded: Folding.fold(text))
            return try beginning(pattern.beginning, " AND matches(folded, ?4)", [.text(Folding.fold(text))])
        case .atLeast(let text):
            return tag.isDate
                ? try rows("\(Self.columns) AND \(SpellingMark.sql) >= ?2", [.text(text)])
                : try rows("\(Self.columns) AND folded >= ?2", [.text(Folding.fold(text))])
        case .atMost(let text):
            return tag.isDate
                ? try rows("\(Self.columns) AND substr(\(SpellingMark.sql), 1, length(?2)) <= ?2", [.text(text)])
                : try rows("\(Self.columns) AND folded <= ?2", [.text(Folding.fold(text))])
        case .before(let text): return try rows("\(Self.columns) AND \(SpellingMark.sql) < ?2", [.text(text)])
        case .after(let text):
            return try rows("\(Self.columns) AND substr(\(SpellingMark.sql), 1, length(?2)) > ?2", [.text(text)])
        case .place, .below, .equals, .numberAtLeast, .numberAtMost, .within, .withinAge, .isTrue, .missing:
            return FoundValues()
        }
    }

    /// Values whose folded text begins with `folded` and that pass `condition`.
    private func beginning(
        _ folded: String, _ condition: String, _ values: [SQLiteValue]
    ) throws(TrackDatabaseError) -> FoundValues {
        try rows(
            "\(Self.columns) AND folded >= ?2 AND folded < ?3\(condition)",
            [.text(folded), TextBounds.end(folded)] + values)
    }

    /// Values that contain at least three letters, found by the index of parts.
    private func indexed(_ folded: String) throws(TrackDatabaseError) -> FoundValues {
        guard let kind = tag.searchKind else { return FoundValues() }
        // Their tracks are estimated: a value mostly has one or two.
        return try rows(
            """
            SELECT v.id, 2 FROM part p CROSS JOIN value v ON v.id = p.rowid & \(Int64(1) << 40 - 1)
            WHERE part MATCH ?3 AND p.rowid >= \(kind.firstDocument) AND p.rowid < \(kind.endOfDocuments)
            AND v.tag = ?1 AND instr(fold(v.text), ?2) > 0
            """, [.text(folded), .text(SearchExpression.parts(folded))])
    }

    private func rows(_ sql: String, _ values: [SQLiteValue]) throws(TrackDatabaseError) -> FoundValues {
        let statement = try database.statement(sql)
        defer { statement.reset() }
        try statement.bind([.integer(Int64(tag.rawValue))] + values)
        var found = FoundValues()
        while try statement.step() { found.add(statement.integer(0), tracks: statement.integer(1)) }
        return found
    }
}

/// Bounds of ranges of text.
enum TextBounds {
    /// A value above all texts that begin with `text`, and below all other greater ones.
    static func end(_ text: String) -> SQLiteValue {
        var scalars = Array(text.unicodeScalars)
        while let last = scalars.popLast() {
            // The next scalar in the order of UTF-8, which skips the surrogates.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            var view = String.UnicodeScalarView()
            view.append(contentsOf: scalars)
            view.append(scalar)
            return .text(String(view))
        }
        // Blobs sort after all texts.
        return .blob([])
    }
}

/// Looks up folders whose paths pass a test.
struct FolderLookup {
    let database: SQLiteDatabase

    /// Numbers of the folders that pass a test.
    func find(_ test: FilterTest) throws(TrackDatabaseError) -> [Int64] {
        switch test {
        case .contains(let text): return try rows("instr(fold(path), ?1) > 0", .text(Folding.fold(text)))
        case .startsWith(let text): return try rows("instr(fold(path), ?1) = 1", .text(Folding.fold(text)))
        case .matches(let text): return try rows("matches(path, ?1)", .text(Folding.fold(text)))
        case .below(let path): return try below(path)
        case .is, .place: return try rows("path = ?1", .blob(test.place ?? []))
        case .atLeast, .atMost, .before, .after, .equals, .numberAtLeast, .numberAtMost, .within,
            .withinAge, .isTrue, .missing:
            return []
        }
    }

    /// The folder with this path and those below it.
    func below(_ path: [UInt8]) throws(TrackDatabaseError) -> [Int64] {
        if path.isEmpty { return try rows("path >= ?1", .blob([])) }
        return try rows(
            "path = ?1 OR path > CAST(?1 || x'2F' AS BLOB) AND path < CAST(?1 || x'30' AS BLOB)", .blob(path))
    }

    private func rows(_ condition: String, _ value: SQLiteValue) throws(TrackDatabaseError) -> [Int64] {
        let statement = try database.statement("SELECT id FROM folder WHERE \(condition)")
        defer { statement.reset() }
        try statement.bind([value])
        var ids: [Int64] = []
        while try statement.step() { ids.append(statement.integer(0)) }
        return ids
    }
}

/// Expressions for the search indices.
enum SearchExpression {
    /// Parts of three letters that cover folded text. Each part costs a walk of its list, so they overlap only at the
    /// end: the index proposes texts, and a test of the text itself decides.
    static func parts(_ folded: String) -> String {
        let scalars = Array(folded.unicodeScalars)
        var seen: Set<String> = []
        var parts: [String] = []
        let last = scalars.count - 3
        guard last >= 0 else { return "" }
        // A part across a word border is rare, and excludes texts with the words apart.
        let borders = (0...last).filter { scalars[$0 + 1] == " " }
        for index in Array(stride(from: 0, to: last, by: 3)) + [last] + borders {
            var part = ""
            for scalar in scalars[index..<(index + 3)] { part.unicodeScalars.append(scalar) }
            if seen.insert(part).inserted { parts.append(quoted(part)) }
        }
        return parts.joined(separator: " AND ")
    }

    /// A text as a string of the language of FTS5.
    static func quoted(_ text: String) -> String {
        "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}

/// Collects the hits of a search from three indices: the order of texts, words, and parts of three letters. It reads a
/// bounded number of rows of each, so that its time does not grow with the library.
struct SearchFinder {
    /// A text that was found.
    private struct Candidate {
        var kind: SearchKind
        var tag: TrackTag?
        /// Number of the value, or of the folder.
        var id: Int64
        var text: String
        var folded: String
        var tracks: Int64
        var rank: SearchRank
    }

    private let core: ReaderCore
    private let records: RecordReader
    private let wanted: SearchText
    private let limit: Int
    private let visible: VisibleFolders?
    private var found: [Int64: Candidate] = [:]
    /// Albums and tracks that several of their texts match together, by their numbers.
    private var exact: [Int64: Candidate] = [:]
    /// Distinct texts of each rank.
    private var texts: [SearchRank: Set<Spelling>] = [:]

    /// A finder of at most `limit` hits.
    init(_ core: ReaderCore, wanted: SearchText, limit: Int) throws(TrackDatabaseError) {
        visible = try core.visible()
        self.core = core
        records = RecordReader(core)
        self.wanted = wanted
        self.limit = limit
    }

    /// Rows of an index that are read.
    private var most: Int { limit + 10 }

    /// Searches from the best ranks to the worst, until there are enough hits: later steps find only lower ranks.
    mutating func find(_ kinds: [SearchKind]) throws(TrackDatabaseError) {
        for kind in kinds { try findBeginnings(kind) }
        if isEnough(.beginning) { return }
        try find("word", wanted.wholeWords, kinds, skips: true)
        if isEnough(.words) { return }
        var beginnings = WordBeginnings(core.database)
        let skips = try beginnings.isStreamed(wanted.pieces)
        try find("word", try beginnings.expression(wanted.pieces), kinds, skips: skips)
        if isEnough(.wordBeginnings) { return }
        if wanted.pieces.count > 1 {
            var fields = try FieldSearch(
                core, wanted: wanted, beginnings: beginnings, visible: visible, most: most)
            for hit in try fields.find(kinds) {
                let document = hit.kind.document(hit.id)
                guard exact[document] == nil else { continue }
                exact[document] = Candidate(
                    kind: hit.kind, tag: hit.kind == .album ? .album : .title, id: hit.id, text: hit.text,
                    folded: Folding.fold(hit.text), tracks: 1, rank: hit.rank)
                texts[hit.rank, default: []].insert(Spelling("\(document)"))
            }
        }
        if isEnough(.fieldBeginnings) || wanted.folded.unicodeScalars.count < 3 { return }
        try find("part", SearchExpression.parts(wanted.folded), kinds, skips: true)
    }

    private func isEnough(_ rank: SearchRank) -> Bool {
        texts.reduce(0) { $0 + ($1.key <= rank ? $1.value.count : 0) } >= limit
    }

    /// Finds texts that begin with the search text.
    private mutating func findBeginnings(_ kind: SearchKind) throws(TrackDatabaseError) {
        for tag in TrackTag.allCases where tag.searchKind == kind {
            let statement = try core.database.statement(
                """
                SELECT id, spelling, folded, tracks FROM ordered
                WHERE tag = ?1 AND folded >= ?2 AND folded < ?3 AND tracks > 0 ORDER BY folded, spelling
                """)
            try statement.bind([
                .integer(Int64(tag.rawValue)), .text(wanted.folded), TextBounds.end(wanted.folded),
            ])
            var count = 0
            while count < most, try statement.step() {
                let id = statement.integer(0)
                guard let tracks = try shown(kind, id, statement.integer(3)) else { continue }
                add(kind, tag, id, statement.text(spelling: 1, folded: 2), statement.text(2), tracks)
                count += 1
            }
            statement.reset()
        }
    }

    /// Walks the matching rows of an index, with a bounded number of each kind. `skips`: a new statement skips the rest
    /// of a kind.
    private mutating func find(
        _ table: String, _ expression: String, _ kinds: [SearchKind], skips: Bool
    ) throws(TrackDatabaseError) {
        let ordered = SearchKind.byDocument.filter(kinds.contains)
        guard let last = ordered.last else { return }
        let statement = try core.database.statement(
            "SELECT rowid FROM \(table) WHERE \(table) MATCH ?1 AND rowid >= ?2 AND rowid < ?3 ORDER BY rowid")
        defer { statement.reset() }
        var counts: [SearchKind: Int] = [:]
        var start = ordered.first?.firstDocument
        while let first = start {
            start = nil
            statement.reset()
            try statement.bind([.text(expression), .integer(first), .integer(last.endOfDocuments)])
            while try statement.step() {
                let document = statement.integer(0)
                guard let kind = SearchKind.kind(document) else { continue }
                if counts[kind, default: 0] >= most || !kinds.contains(kind) {
                    let next = ordered.first { $0.firstDocument > document && counts[$0, default: 0] < most }
                    guard let next else { break }
                    guard skips else { continue }
                    start = next.firstDocument
                    break
                }
                guard found[document] == nil else { continue }
                if try add(kind, SearchKind.id(document), isPart: table == "part") { counts[kind, default: 0] += 1 }
            }
        }
    }

    /// Adds the hit of a row of an index; false: it does not match, or its files are missing.
    private mutating func add(
        _ kind: SearchKind, _ id: Int64, isPart: Bool
    ) throws(TrackDatabaseError) -> Bool {
        if kind == .folder {
            guard visible?.ids.contains(id) ?? true else { return false }
            let path = try records.folder(id)
            guard try FolderBrowser(core).holdsTracks(path) else { return false }
            let name = String(decoding: TrackPath(path).name, as: UTF8.self)
            return add(kind, nil, id, name, Folding.fold(name), 0)
        }
        let value = try records.value(id, keeps: false)
        let folded = Folding.fold(value.text)
        guard let tag = value.tag, !isPart || wanted.stands(in: folded), wanted.rank(folded) != nil else {
            return false
        }
        let tracks = try core.database.number(
            "SELECT tracks FROM ordered WHERE tag = ?1 AND folded = ?2 AND spelling = ?3",
            .integer(Int64(tag.rawValue)), .text(folded), .text(SpellingMark.mark(value.text, folded)))
        guard let tracks, tracks > 0, let shown = try shown(kind, id, tracks) else { return false }
        return add(kind, tag, id, value.text, folded, shown)
    }

    /// Visible tracks with a value, of its `tracks`; nil: none is visible.
    private func shown(_ kind: SearchKind, _ id: Int64, _ tracks: Int64) throws(TrackDatabaseError) -> Int64? {
        guard let visible else { return tracks }
        let isShown = "(t.flags & \(TrackFlags.missing)) = 0 AND holds(t.folder, ?2)"
        let rows =
            kind == .track
            ? """
            SELECT t.id FROM track t INDEXED BY track_title WHERE t.title = ?1 AND \(isShown) UNION ALL
            SELECT t.id FROM own_value o CROSS JOIN track t WHERE o.value = ?1 AND t.id = o.track AND \(isShown)
            """
            : """
            SELECT t.id FROM tagset_value l CROSS JOIN track t INDEXED BY track_tagset
            WHERE l.value = ?1 AND t.tagset = l.tagset AND \(isShown)
            """
        let count = try core.database.number("SELECT count(*) FROM (\(rows))", .integer(id), .ids(visible.ids)) ?? 0
        return count > 0 ? count : nil
    }

    @discardableResult
    private mutating func add(
        _ kind: SearchKind, _ tag: TrackTag?, _ id: Int64, _ text: String, _ folded: String, _ tracks: Int64
    ) -> Bool {
        guard let rank = wanted.rank(folded) else { return false }
        texts[rank, default: []].insert(Spelling("\(kind.rawValue)\(text)"))
        found[kind.document(id)] = Candidate(
            kind: kind, tag: tag, id: id, text: text, folded: folded, tracks: tracks, rank: rank)
        return true
    }

    /// The hits in their order, at most the limit.
    func hits() throws(TrackDatabaseError) -> [SearchHit] {
        let candidates = found.values.map { ($0, false) } + exact.values.map { ($0, true) }
        let sorted = candidates.sorted { first, second in
            let (one, other) = (first.0, second.0)
            if one.rank != other.rank { return one.rank < other.rank }
            if one.kind != other.kind { return one.kind.rawValue < other.kind.rawValue }
            if one.tracks != other.tracks { return one.tracks > other.tracks }
            if one.folded != other.folded { return one.folded.utf8.lexicographicallyPrecedes(other.folded.utf8) }
            return one.id < other.id
        }
        var hits: [SearchHit] = []
        var artists: Set<Spelling> = []
        var seen: Set<Int64> = []
        for (candidate, isExact) in sorted where hits.count < limit {
            // One artist may occur in several tags.
            if candidate.kind == .artist, !artists.insert(Spelling(candidate.text)).inserted { continue }
            for hit in isExact ? try exactHit(candidate) : try self.hits(of: candidate) {
                if hit.id != 0, !seen.insert(hit.kind.document(hit.id)).inserted { continue }
                hits.append(hit)
            }
        }
        return Array(hits.prefix(limit))
    }

    /// The hit of a single album or track.
    private func exactHit(_ candidate: Candidate) throws(TrackDatabaseError) -> [SearchHit] {
        var tracks: Int64 = 1
        if candidate.kind == .album { tracks = try TrackCounter(core).counted(.album(candidate.id)).tracks }
        guard tracks > 0 else { return [] }
        return [
            SearchHit(
                kind: candidate.kind, tag: candidate.tag, text: candidate.text, id: candidate.id, path: [],
                tracks: tracks, rank: candidate.rank)
        ]
    }

    private func hits(of candidate: Candidate) throws(TrackDatabaseError) -> [SearchHit] {
        func hit(_ id: Int64, path: [UInt8] = [], tracks: Int64) -> SearchHit {
            SearchHit(
                kind: candidate.kind, tag: candidate.tag, text: candidate.text, id: id, path: path, tracks: tracks,
                rank: candidate.rank)
        }
        switch candidate.kind {
        case .artist, .genre: return [hit(0, tracks: candidate.tracks)]
        case .folder: return [hit(0, path: try records.folder(candidate.id), tracks: 0)]
        case .album:
            var rows = try rows(
                "SELECT id, tracks FROM album WHERE title = ?1 AND tracks > 0 ORDER BY tracks DESC, id LIMIT ?2",
                candidate.id)
            if visible != nil {
                for index in rows.indices {
                    rows[index].tracks = try TrackCounter(core).counted(.album(rows[index].id)).tracks
                }
                rows = rows.filter { $0.tracks > 0 }
            }
            return rows.map { hit($0.id, tracks: $0.tracks) }
        case .track:
            let shown = "(t.flags & \(TrackFlags.missing)) = 0" + (visible == nil ? "" : " AND holds(t.folder, ?3)")
            let rows = try rows(
                """
                SELECT t.id, 1 FROM track t WHERE t.title = ?1 AND \(shown)
                UNION SELECT t.id, 1 FROM own_value o CROSS JOIN track t
                WHERE o.value = ?1 AND t.id = o.track AND \(shown) ORDER BY 1 LIMIT ?2
                """, candidate.id, visible.map { [.ids($0.ids)] } ?? [])
            return rows.map { hit($0.id, tracks: 1) }
        }
    }

    private func rows(
        _ sql: String, _ id: Int64, _ values: [SQLiteValue] = []
    ) throws(TrackDatabaseError) -> [(id: Int64, tracks: Int64)] {
        let statement = try core.database.statement(sql)
        defer { statement.reset() }
        try statement.bind([.integer(id), .integer(Int64(limit))] + values)
        var found: [(id: Int64, tracks: Int64)] = []
        while try statement.step() { found.append((statement.integer(0), statement.integer(1))) }
        return found
    }
}

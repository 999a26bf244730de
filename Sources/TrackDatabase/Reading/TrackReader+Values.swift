/// A question for the distinct values of a tag.
package struct ValuesQuery: Equatable, Sendable {
    package var tag: TrackTag
    /// Counts only tracks that pass; nil: all tracks.
    package var filter: TrackFilter?
    /// Parts each value by the values of these tags.
    package var group: [TrackTag]
    /// Rows of the page, 1 to 10,000.
    package var limit: Int
    /// `next` of the page before; nil: the first page.
    package var after: String?

    /// A question by its parts.
    package init(
        tag: TrackTag, filter: TrackFilter? = nil, group: [TrackTag] = [], limit: Int = 1000, after: String? = nil
    ) {
        self.tag = tag
        self.filter = filter
        self.group = group
        self.limit = limit
        self.after = after
    }

    /// All of it but its page.
    var description: String { "\(tag)\(String(describing: filter))\(group)" }
}

/// A value of a tag.
package struct ValueRow: Equatable, Sendable {
    package var value: String
    /// The value of each tag of the group; nil: the tracks have none.
    package var group: [String?]
    /// Tracks that have it.
    package var tracks: Int64
    /// Seconds.
    package var duration: Double
}

/// Values that were counted for a filter, sorted, of one version of the library.
struct ComputedValues {
    var question: String
    var version: Int64
    var rows: [ValueRow]

    /// The index of the first row that follows `row`, which may be gone.
    func place(after row: ValueRow) -> Int {
        let key = Self.key(row)
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.precedes(key, Self.key(rows[middle])) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Texts by which a row is sorted.
    static func key(_ row: ValueRow) -> [String] {
        // U+10FFFF: rows without a value in the group come last.
        ([row.value] + row.group).flatMap { text -> [String] in
            guard let text else { return ["\u{10FFFF}", ""] }
            let folded = Folding.fold(text)
            return [folded, SpellingMark.mark(text, folded)]
        }
    }

    /// True: `one` stands before `other`.
    static func precedes(_ one: [String], _ other: [String]) -> Bool {
        // As bytes: é has two spellings that are equal as text.
        for (left, right) in zip(one, other) where !left.utf8.elementsEqual(right.utf8) {
            return left.utf8.lexicographicallyPrecedes(right.utf8)
        }
        return false
    }
}

extension TrackReader {
    /// A page of the values of a tag, by their folded text.
    package func values(_ query: ValuesQuery) throws(TrackDatabaseError) -> Page<ValueRow> {
        try question("the values of very many tracks were counted") { () throws(TrackDatabaseError) in
            let limit = min(max(1, query.limit), TrackQuery.maximumLimit)
            let version = try totals().version
            if query.filter == nil, query.group.isEmpty, try visible() == nil {
                return try listed(query, limit, version)
            }
            return try computed(query, limit, version)
        }
    }

    private func listed(
        _ query: ValuesQuery, _ limit: Int, _ version: Int64
    ) throws(TrackDatabaseError) -> Page<ValueRow> {
        let description = query.description
        var after: [SQLiteValue] = [.text(""), .text("")]
        if let text = query.after {
            after = try QueryCursor(text, question: description).values
            guard after.count == 2 else { throw .invalidCursor }
        }
        let statement = try database.statement(
            """
            SELECT spelling, tracks, duration, folded FROM ordered
            WHERE tag = ?1 AND (folded, spelling) > (?2, ?3) AND tracks > 0 ORDER BY folded, spelling LIMIT ?4
            """)
        defer { statement.reset() }
        try statement.bind([.integer(Int64(query.tag.rawValue))] + after + [.integer(Int64(limit + 1))])
        var rows: [ValueRow] = []
        rows.reserveCapacity(limit)
        var next: String?
        while try statement.step() {
            if rows.count == limit {
                let last = rows[limit - 1].value
                let folded = Folding.fold(last)
                next = QueryCursor([.text(folded), .text(SpellingMark.mark(last, folded))]).text(description)
                break
            }
            rows.append(
                ValueRow(
                    value: statement.text(spelling: 0, folded: 3), group: [], tracks: statement.integer(1),
                    duration: Double(statement.integer(2)) / 1000))
        }
        return Page(rows: rows, next: next, version: version)
    }

    private func computed(
        _ query: ValuesQuery, _ limit: Int, _ version: Int64
    ) throws(TrackDatabaseError) -> Page<ValueRow> {
        let description = query.description
        let list: ComputedValues
        // Ages of a first page count from now; the next pages belong to it.
        let isNew = query.after == nil && query.filter?.hasAges == true
        if !isNew, let known = cache.list, known.question == description, known.version == version {
            list = known
        } else {
            list = ComputedValues(question: description, version: version, rows: try count(query))
            cache.keep(list)
        }
        let start = try query.after.map { text throws(TrackDatabaseError) in
            let values = try QueryCursor(text, question: description).values
            guard values.count == query.group.count + 1, case .text(let value)? = values.first else {
                throw .invalidCursor
            }
            let group = values.dropFirst().map { value -> String? in
                guard case .text(let text) = value else { return nil }
                return text
            }
            return list.place(after: ValueRow(value: value, group: group, tracks: 0, duration: 0))
        }
        let rows = Array(list.rows.dropFirst(start ?? 0).prefix(limit))
        let isLast = (start ?? 0) + rows.count >= list.rows.count
        let next = isLast ? nil : rows.last.map { QueryCursor(Self.cursor($0)).text(description) }
        return Page(rows: rows, next: next, version: version)
    }

    private static func cursor(_ row: ValueRow) -> [SQLiteValue] {
        [.text(row.value)] + row.group.map { $0.map { .text($0) } ?? .null }
    }

    /// Numbers of a value and of the values of its group, 0 for none.
    private typealias Key = [Int64]

    private func count(_ query: ValuesQuery) throws(TrackDatabaseError) -> [ValueRow] {
        let tags = [query.tag] + query.group
        let areShared = !tags.contains(where: \.isOwn)
        let source =
            try countedRows(query.filter, needsTracks: !areShared) ?? CountedRows(sets: .constant(true), in: nil)
        if areShared, !source.bySets { return try sorted(try countBySets(query, source)) }
        if source.bySets, query.group.isEmpty { return try listed(try counted(query.tag, source), query.tag) }
        let columns =
            "s.packed, \(source.tracks), \(source.duration)" + (source.bySets ? "" : ", t.title, t.own")
        let statement = try database.prepare(QueryStatement.numbered("SELECT \(columns) \(source.sql)"))
        try statement.bind(source.values)
        var counts: [Key: Count] = [:]
        while try statement.step() {
            try database.checkDeadline()
            var packed = PackedValues.unpack(statement.blob(0))
            if !source.bySets {
                if let title = statement.optionalInteger(3) { packed.append((TrackTag.title.rawValue, title)) }
                packed += PackedValues.unpack(statement.blob(4))
            }
            for key in Self.keys(tags, packed) {
                counts[key, default: Count()].add(statement.integer(1), statement.integer(2))
            }
            try check(counts.count, query)
        }
        return try sorted(counts)
    }

    /// Counts the values of one tag that sets have.
    private func counted(_ tag: TrackTag, _ source: CountedRows) throws(TrackDatabaseError) -> [Int64: Count] {
        let statement = try database.prepare(
            QueryStatement.numbered("SELECT s.packed, \(source.tracks), \(source.duration) \(source.sql)"))
        try statement.bind(source.values)
        var counts: [Int64: Count] = [:]
        while try statement.step() {
            let (tracks, duration) = (statement.integer(1), statement.integer(2))
            statement.withBytes(0) { packed in
                for value in PackedValues(packed) where value.tag == tag.rawValue {
                    counts[value.value, default: Count()].add(tracks, duration)
                }
            }
        }
        return counts
    }

    /// Values in the order of their folded texts. Of many the list of all is walked, which has this order.
    private func listed(_ counts: [Int64: Count], _ tag: TrackTag) throws(TrackDatabaseError) -> [ValueRow] {
        guard counts.count > Self.fewValues else {
            var keyed: [Key: Count] = [:]
            for (id, count) in counts { keyed[[id]] = count }
            return try sorted(keyed)
        }
        let statement = try database.statement(
            "SELECT id, spelling, folded FROM ordered WHERE tag = ?1 ORDER BY folded, spelling")
        defer { statement.reset() }
        try statement.bind([.integer(Int64(tag.rawValue))])
        var rows: [ValueRow] = []
        rows.reserveCapacity(counts.count)
        while try statement.step() {
            guard let count = counts[statement.integer(0)] else { continue }
            rows.append(
                ValueRow(
                    value: statement.text(spelling: 1, folded: 2), group: [], tracks: count.tracks,
                    duration: Double(count.duration) / 1000))
        }
        return rows
    }

    /// Values that are sorted by themselves.
    private static let fewValues = 500

    /// Tracks, and milliseconds of them.
    private struct Count {
        var tracks: Int64 = 0
        var duration: Int64 = 0

        mutating func add(_ tracks: Int64, _ duration: Int64) {
            self.tracks += tracks
            self.duration += duration
        }
    }

    /// Counts tracks by tags that their sets have: each set is taken apart once.
    private func countBySets(_ query: ValuesQuery, _ source: CountedRows) throws(TrackDatabaseError) -> [Key: Count] {
        let statement = try database.prepare(QueryStatement.numbered("SELECT t.tagset, t.duration \(source.sql)"))
        try statement.bind(source.values)
        var sets: [Int64: Count] = [:]
        while try statement.step() { sets[statement.integer(0), default: Count()].add(1, statement.integer(1)) }
        let tags = [query.tag] + query.group
        let set = try database.statement("SELECT packed FROM tagset WHERE id = ?1")
        defer { set.reset() }
        var counts: [Key: Count] = [:]
        for (id, count) in sets.sorted(by: { $0.key < $1.key }) {
            try database.checkDeadline()
            set.reset()
            guard try set.bind([.integer(id)]).step() else { continue }
            for key in Self.keys(tags, PackedValues.unpack(set.blob(0))) {
                counts[key, default: Count()].add(count.tracks, count.duration)
            }
            try check(counts.count, query)
        }
        return counts
    }

    /// Combinations that one set of tags counts for, at most. A file may have dozens of values of each of several tags, whose
    /// combinations nobody can hold.
    private static let mostOfSet = 4096

    /// Ends a question with more combinations than memory has room for. Values of one tag alone are as many as the library has.
    private func check(_ count: Int, _ query: ValuesQuery) throws(TrackDatabaseError) {
        guard count > mostCombinations, !query.group.isEmpty else { return }
        let names = ([query.tag] + query.group).map(\.name).joined(separator: ", ")
        throw .invalid(
            "\(names) have more than \(mostCombinations) combinations: group by fewer tags, or let a filter pass fewer tracks",
            nearest: nil)
    }

    /// Each combination of a value of the first tag with values of the others. Of too many those of the first values remain.
    private static func keys(_ tags: [TrackTag], _ packed: [(tag: UInt8, value: Int64)]) -> [Key] {
        var keys: [Key] = [[]]
        for (index, tag) in tags.enumerated() {
            var own = packed.filter { $0.tag == tag.rawValue }.map(\.value)
            if own.isEmpty, index > 0 { own = [0] }
            let room = max(1, mostOfSet / max(1, keys.count))
            keys = keys.flatMap { key in own.prefix(room).map { key + [$0] } }
        }
        return keys
    }

    private func sorted(_ counts: [Key: Count]) throws(TrackDatabaseError) -> [ValueRow] {
        var rows: [(folded: [String], row: ValueRow)] = []
        rows.reserveCapacity(counts.count)
        for (key, count) in counts {
            try database.checkDeadline()
            var texts: [String?] = []
            for id in key { texts.append(id == 0 ? nil : try value(id, keeps: true).text) }
            let row = ValueRow(
                value: texts[0] ?? "", group: Array(texts.dropFirst()), tracks: count.tracks,
                duration: Double(count.duration) / 1000)
            rows.append((ComputedValues.key(row), row))
        }
        rows.sort { ComputedValues.precedes($0.folded, $1.folded) }
        return rows.map(\.row)
    }
}

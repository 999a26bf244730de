/// Lists the values of tags, and counts their tracks.
struct ValueCounter {
    private let core: ReaderCore
    private let records: RecordReader
    private let counter: TrackCounter
    private let mostCombinations: Int

    /// A counter for this database. `mostCombinations`: combinations of values in one query, at most; they are in
    /// memory until the list is complete.
    init(_ core: ReaderCore, mostCombinations: Int) {
        self.core = core
        self.mostCombinations = mostCombinations
        records = RecordReader(core)
        counter = TrackCounter(core)
    }

    /// A page of the values of a tag, by their folded text.
    func values(_ query: ValuesQuery) throws(TrackDatabaseError) -> Page<ValueRow> {
        try core.question("the values of very many tracks were counted") { () throws(TrackDatabaseError) in
            let limit = min(max(1, query.limit), TrackQuery.maximumLimit)
            let version = try core.totals().version
            if query.filter == nil, query.group.isEmpty, try core.visible() == nil {
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
        let statement = try core.database.statement(
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
        // Ages of a first page count from now; its next pages use the same list.
        let isNew = query.after == nil && query.filter?.hasAges == true
        if !isNew, let known = core.cache.list, known.question == description, known.version == version {
            list = known
        } else {
            list = ComputedValues(question: description, version: version, rows: try count(query))
            core.cache.keep(list)
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

    /// Number of a value and of the values of its group; 0: none.
    private typealias Key = [Int64]

    private func count(_ query: ValuesQuery) throws(TrackDatabaseError) -> [ValueRow] {
        let tags = [query.tag] + query.group
        let areShared = !tags.contains(where: \.isOwn)
        let source =
            try counter.countedRows(query.filter, needsTracks: !areShared)
            ?? CountedRows(sets: .constant(true), in: nil)
        if areShared, !source.bySets { return try sorted(try countBySets(query, source)) }
        if source.bySets, query.group.isEmpty { return try listed(try counted(query.tag, source), query.tag) }
        let columns =
            "s.packed, \(source.tracks), \(source.duration)" + (source.bySets ? "" : ", t.title, t.own")
        let statement = try core.database.prepare(QueryStatement.numbered("SELECT \(columns) \(source.sql)"))
        try statement.bind(source.values)
        var counts: [Key: Count] = [:]
        while try statement.step() {
            try core.database.checkDeadline()
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

    /// Counts the values of one tag in sets.
    private func counted(_ tag: TrackTag, _ source: CountedRows) throws(TrackDatabaseError) -> [Int64: Count] {
        let statement = try core.database.prepare(
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

    /// Values in the order of their folded texts. For many values, it walks the list of all values, which has this
    /// order.
    private func listed(_ counts: [Int64: Count], _ tag: TrackTag) throws(TrackDatabaseError) -> [ValueRow] {
        guard counts.count > Self.fewValues else {
            var keyed: [Key: Count] = [:]
            for (id, count) in counts { keyed[[id]] = count }
            return try sorted(keyed)
        }
        let statement = try core.database.statement(
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

    /// Values that are sorted without that list, at most.
    private static let fewValues = 500

    /// Number of tracks and their milliseconds.
    private struct Count {
        var tracks: Int64 = 0
        var duration: Int64 = 0

        mutating func add(_ tracks: Int64, _ duration: Int64) {
            self.tracks += tracks
            self.duration += duration
        }
    }

    /// Counts tracks by the tags of their sets; each set is unpacked once.
    private func countBySets(_ query: ValuesQuery, _ source: CountedRows) throws(TrackDatabaseError) -> [Key: Count] {
        let statement = try core.database.prepare(QueryStatement.numbered("SELECT t.tagset, t.duration \(source.sql)"))
        try statement.bind(source.values)
        var sets: [Int64: Count] = [:]
        while try statement.step() { sets[statement.integer(0), default: Count()].add(1, statement.integer(1)) }
        let tags = [query.tag] + query.group
        let set = try core.database.statement("SELECT packed FROM tagset WHERE id = ?1")
        defer { set.reset() }
        var counts: [Key: Count] = [:]
        for (id, count) in sets.sorted(by: { $0.key < $1.key }) {
            try core.database.checkDeadline()
            set.reset()
            guard try set.bind([.integer(id)]).step() else { continue }
            for key in Self.keys(tags, PackedValues.unpack(set.blob(0))) {
                counts[key, default: Count()].add(count.tracks, count.duration)
            }
            try check(counts.count, query)
        }
        return counts
    }

    /// Combinations of one set of tags, at most. A file may have dozens of values of each of several tags, whose
    /// combinations exceed any memory.
    private static let mostOfSet = 4096

    /// Ends a query with more combinations than the limit. Values of one tag alone have no limit.
    private func check(_ count: Int, _ query: ValuesQuery) throws(TrackDatabaseError) {
        guard count > mostCombinations, !query.group.isEmpty else { return }
        let names = ([query.tag] + query.group).map(\.name).joined(separator: ", ")
        throw .invalid(
            "\(names) have more than \(mostCombinations) combinations: group by fewer tags, or let a filter pass fewer tracks",
            nearest: nil)
    }

    /// Each combination of a value of the first tag with values of the others. Above the limit, those of the first
    /// values stay.
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
            try core.database.checkDeadline()
            var texts: [String?] = []
            for id in key { texts.append(id == 0 ? nil : try records.value(id, keeps: true).text) }
            let row = ValueRow(
                value: texts[0] ?? "", group: Array(texts.dropFirst()), tracks: count.tracks,
                duration: Double(count.duration) / 1000)
            rows.append((ComputedValues.key(row), row))
        }
        rows.sort { ComputedValues.precedes($0.folded, $1.folded) }
        return rows.map(\.row)
    }
}

/// A plan to walk tracks in an order: statements in sequence, each with rows after those of the previous one.
struct QueryPlan {
    /// One statement without its filter.
    struct Phase {
        /// Tables, with `track t` and `tagset s` among them.
        var tables: String
        /// The condition that joins them, with `@` for each of `values`.
        var condition: String
        var values: [SQLiteValue] = []
        var columns: [SortColumn]
        /// A column in the order of an index, for the first of `columns`; nil: no index has it.
        var seek: String?
        /// True if an index also has the second of `columns`, bytes that are never empty, in order within each value of
        /// the first, and there are no more columns.
        var seeksWithin = false
        /// The number of the set of tags, in the first table that has it.
        var set = "t.tagset"
    }

    var phases: [Phase]
    /// Reason why it may take long, for people.
    var slowness: String

    /// The plan that uses an index of the order; nil: there is none for its first key.
    static func ordered(by keys: [SortKey]) -> QueryPlan? {
        guard let first = keys.first else {
            let columns = [SortColumn(sql: "t.id", isFalling: false)]
            let phase = Phase(
                tables: "track t CROSS JOIN tagset s", condition: "s.id = t.tagset", columns: columns, seek: "t.id")
            return QueryPlan(phases: [phase], slowness: Self.rare)
        }
        let rest = keys.dropFirst().flatMap(SortColumns.columns)
        let isFalling = first.isFalling
        func column(_ sql: String) -> SortColumn { SortColumn(sql: sql, isFalling: isFalling) }
        switch first.field {
        case .tag(let tag): return ordered(by: tag, isFalling: first.isFalling, rest)
        case .uri:
            let phase = Phase(
                tables: "folder f CROSS JOIN track t INDEXED BY track_name CROSS JOIN tagset s",
                condition: "t.folder = f.id AND s.id = t.tagset", columns: [column("f.path"), column("t.name")],
                seek: "f.path", seeksWithin: !isFalling)
            return QueryPlan(phases: [phase], slowness: Self.rare)
        case .time(.added):
            let phase = Phase(
                tables: "track t INDEXED BY track_added CROSS JOIN tagset s", condition: "s.id = t.tagset",
                columns: [column("t.added")] + rest + [SortColumn(sql: "t.id", isFalling: false)], seek: "t.added")
            return QueryPlan(phases: [phase], slowness: Self.rare)
        case .albums:
            // Its first columns are those of the artist.
            let columns = SortColumns.columns(first).dropFirst(2)
            return ordered(by: .albumArtist, isFalling: isFalling, columns + rest)
        case .number, .time: return nil
        }
    }

    private static let rare = "few tracks pass the filter, and the order was walked to find them"

    private static func ordered(by tag: TrackTag, isFalling: Bool, _ rest: [SortColumn]) -> QueryPlan {
        let last = SortColumn.last(isFalling: isFalling)
        let first = ["v.folded", "v.spelling"].map { SortColumn(sql: $0, isFalling: isFalling) }
        let none = [last, last].map { SortColumn(sql: $0, isFalling: isFalling, isConstant: true) }
        let track = [SortColumn(sql: "t.id", isFalling: false)]
        let number = tag.rawValue
        let phases: [Phase]
        if tag == .title {
            // Each track has a value.
            phases = [
                Phase(
                    tables: "ordered v CROSS JOIN track t INDEXED BY track_title CROSS JOIN tagset s",
                    condition: "v.tag = \(number) AND t.title = v.id AND s.id = t.tagset",
                    columns: first + rest + [SortColumn(sql: "t.tagset", isFalling: false)] + track, seek: "v.folded")
            ]
        } else if tag.isOwn {
            phases = [
                Phase(
                    tables: "ordered v CROSS JOIN own_value o CROSS JOIN track t CROSS JOIN tagset s",
                    condition: "v.tag = \(number) AND o.value = v.id AND t.id = o.track AND s.id = t.tagset "
                        + "AND firstOf(t.own, \(number)) = v.id", columns: first + rest + track, seek: "v.folded"),
                Phase(
                    tables: "track t CROSS JOIN tagset s",
                    condition: "firstOf(t.own, \(number)) IS NULL AND s.id = t.tagset", columns: none + rest + track),
            ]
        } else {
            phases = [
                Phase(
                    tables: "ordered v CROSS JOIN tagset_value l CROSS JOIN tagset s CROSS JOIN track t INDEXED BY "
                        + "track_tagset",
                    condition: "v.tag = \(number) AND l.value = v.id AND l.place = 0 AND s.id = l.tagset "
                        + "AND t.tagset = l.tagset",
                    columns: first + rest + [SortColumn(sql: "l.tagset", isFalling: false)] + track, seek: "v.folded",
                    set: "l.tagset"),
                Phase(
                    tables: "tagset s CROSS JOIN track t INDEXED BY track_tagset",
                    condition: "(s.tags & \(tag.bit)) = 0 AND t.tagset = s.id",
                    columns: none + rest + [SortColumn(sql: "s.id", isFalling: false)] + track, set: "s.id"),
            ]
        }
        return QueryPlan(
            phases: phases,
            slowness: rest.isEmpty ? Self.rare : "many tracks have the same \(tag.name), or \(Self.rare)")
    }

    /// Columns of a whole order, the same in each plan of it.
    static func columns(_ keys: [SortKey]) -> [SortColumn] {
        var columns = keys.flatMap(SortColumns.columns)
        switch keys.first?.field {
        case .uri?: return Array(columns.prefix(2))
        case .tag(let tag)? where !tag.isOwn || tag == .title:
            columns.append(SortColumn(sql: "t.tagset", isFalling: false))
        case .albums?: columns.append(SortColumn(sql: "t.tagset", isFalling: false))
        case .tag?, .number?, .time?, nil: break
        }
        return columns + [SortColumn(sql: "t.id", isFalling: false)]
    }

    /// The plan that reads the rows of a driver, or all rows, and sorts them.
    static func sorted(_ columns: [SortColumn], by driver: CompiledFilter.Driver?) -> QueryPlan {
        var phase = Phase(
            tables: "track t CROSS JOIN tagset s", condition: "s.id = t.tagset", values: [], columns: columns)
        let list = "SELECT value FROM json_each(@)"
        switch driver {
        case .values(let ids)?:
            phase.tables =
                "(SELECT DISTINCT tagset AS id FROM tagset_value WHERE value IN (\(list))) d "
                + "CROSS JOIN tagset s CROSS JOIN track t INDEXED BY track_tagset"
            phase.condition = "s.id = d.id AND t.tagset = d.id"
            phase.values = [json(ids)]
        case .own(let ids)?:
            phase.tables =
                "(SELECT id FROM track WHERE title IN (\(list)) UNION "
                + "SELECT track FROM own_value WHERE value IN (\(list))) d CROSS JOIN track t CROSS JOIN tagset s"
            phase.condition = "t.id = d.id AND s.id = t.tagset"
            phase.values = [json(ids), json(ids)]
        case .album(let id)?:
            phase.tables = "tagset s CROSS JOIN track t INDEXED BY track_tagset"
            phase.condition = "s.album = @ AND t.tagset = s.id"
            phase.values = [.integer(id)]
        case .folders(let ids)?:
            phase.tables = "json_each(@) d CROSS JOIN track t INDEXED BY track_name CROSS JOIN tagset s"
            phase.condition = "t.folder = d.value AND s.id = t.tagset"
            phase.values = [json(ids)]
        case nil: break
        }
        let slowness =
            driver == nil
            ? "the query reads all tracks: no index has this order, and no test of the filter finds few tracks"
            : "the query sorts the very many tracks that the filter finds"
        return QueryPlan(phases: [phase], slowness: slowness)
    }

    /// The same plan, which skips all other sets of tags before it reads their rows.
    func narrowed(to sets: IdSet) -> QueryPlan {
        var plan = self
        for (index, phase) in phases.enumerated() {
            plan.phases[index].condition = "holds(\(phase.set), @) AND " + phase.condition
            plan.phases[index].values = [.ids(sets)] + phase.values
        }
        return plan
    }

    /// The same plan of an order by folders, which skips all other folders.
    func narrowed(toFolders folders: IdSet) -> QueryPlan {
        var plan = self
        for (index, phase) in phases.enumerated() {
            plan.phases[index].condition = "holds(f.id, @) AND " + phase.condition
            plan.phases[index].values = [.ids(folders)] + phase.values
        }
        return plan
    }

    /// Numbers as a JSON array, for `json_each`.
    static func json(_ ids: [Int64]) -> SQLiteValue {
        .text("[" + ids.map { String($0) }.joined(separator: ",") + "]")
    }
}

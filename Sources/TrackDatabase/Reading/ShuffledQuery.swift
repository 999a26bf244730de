/// Finds tracks in a shuffled order. If many tracks pass the filter, it walks the order from position to position; else
/// it sorts the filter's tracks by their positions. Cursors begin with the bits of the order on its first page, which
/// stay constant.
struct ShuffledQuery {
    let database: SQLiteDatabase
    let filter: CompiledFilter
    /// Approximate number of tracks in the library.
    let total: Double
    /// Rows, at most.
    let limit: Int

    /// True if the filter finds few enough tracks to sort them.
    private var sorts: Bool {
        filter.driver != nil && filter.driven * 2 <= Double(limit) / max(filter.share, 1e-9)
    }

    /// Tracks, shuffled.
    func tracks(_ seed: UInt64, _ after: [SQLiteValue]?) throws(TrackDatabaseError) -> [FoundRow] {
        let (order, bits, place) = try order(seed, after, count: 2, highest: "SELECT max(id) FROM track")
        if sorts {
            return try sorted([shuffled("t.id", order, bits)], bits, after)
        }
        let statement = try database.statement(
            QueryStatement.numbered(
                "SELECT t.id FROM track t CROSS JOIN tagset s WHERE t.id = @ AND s.id = t.tagset "
                    + "AND (t.flags & \(TrackFlags.missing)) = 0 AND (\(filter.sql))"))
        var found: [FoundRow] = []
        var next = place.map { $0 + 1 } ?? 0
        while next < order.count, found.count < limit {
            if next & 0xFFF == 0 { try database.checkDeadline() }
            let id = order.number(at: next)
            try statement.bind([.integer(id)] + filter.values)
            if try statement.step() { found.append(FoundRow(id: id, columns: [.integer(bits), .integer(next)])) }
            statement.reset()
            next += 1
        }
        return found
    }

    /// Tracks in shuffled albums.
    func albums(_ seed: UInt64, _ after: [SQLiteValue]?) throws(TrackDatabaseError) -> [FoundRow] {
        let (order, bits, _) = try order(seed, after, count: 5, highest: "SELECT max(max(id), 1) FROM album")
        let columns = ["ifnull(t.disc, 0)", "ifnull(t.number, 0)", "t.id"]
        // Tracks on no album follow all positions.
        if sorts {
            let album = shuffled("s.album", order, bits)
            let place = "CASE WHEN s.album IS NULL THEN \(order.count) ELSE \(album) END"
            return try sorted([place] + columns, bits, after)
        }
        var found: [FoundRow] = []
        var after = after.map { Array($0.dropFirst()) }
        var place: Int64 = 0
        if case .integer(let number)? = after?.first { place = number }
        while place <= order.count, found.count < limit {
            if place & 0xFFF == 0 { try database.checkDeadline() }
            let isAlbum = place < order.count
            let phase = QueryPlan.Phase(
                tables: "tagset s CROSS JOIN track t INDEXED BY track_tagset",
                condition: isAlbum ? "s.album = @ AND t.tagset = s.id" : "s.album IS NULL AND t.tagset = s.id",
                values: isAlbum ? [.integer(order.number(at: place))] : [],
                columns: columns.map { SortColumn(sql: $0, isFalling: false) })
            let statement = QueryStatement(
                phase: phase, filter: filter, after: after.map { Array($0.dropFirst()) }, limit: limit)
            let rows = try FoundRow.all(statement.make(), columns.count, database)
            found += rows.prefix(limit - found.count).map {
                FoundRow(id: $0.id, columns: [.integer(bits), .integer(place)] + $0.columns)
            }
            after = nil
            place += 1
        }
        return found
    }

    private func order(
        _ seed: UInt64, _ after: [SQLiteValue]?, count: Int, highest: String
    ) throws(TrackDatabaseError) -> (ShuffledOrder, bits: Int64, place: Int64?) {
        guard let after else {
            let bits = ShuffledOrder.bits(for: try database.number(highest) ?? 1)
            return (ShuffledOrder(seed: seed, bits: bits), bits, nil)
        }
        guard after.count == count, case .integer(let bits) = after[0], (1...40).contains(bits),
            case .integer(let place) = after[1], place >= 0
        else { throw .invalidCursor }
        return (ShuffledOrder(seed: seed, bits: bits), bits, place)
    }

    private func shuffled(_ column: String, _ order: ShuffledOrder, _ bits: Int64) -> String {
        "shuffled(\(column), \(Int64(bitPattern: order.seed)), \(bits))"
    }

    private func sorted(
        _ columns: [String], _ bits: Int64, _ after: [SQLiteValue]?
    ) throws(TrackDatabaseError) -> [FoundRow] {
        let plan = QueryPlan.sorted(columns.map { SortColumn(sql: $0, isFalling: false) }, by: filter.driver)
        var found: [FoundRow] = []
        for phase in plan.phases {
            let statement = QueryStatement(
                phase: phase, filter: filter, after: after.map { Array($0.dropFirst()) }, limit: limit)
            found += try FoundRow.all(statement.make(), columns.count, database).map {
                FoundRow(id: $0.id, columns: [.integer(bits)] + $0.columns)
            }
        }
        return found
    }
}

/// Makes the statement of a phase of a plan: filter, start position, and order.
struct QueryStatement {
    let phase: QueryPlan.Phase
    let filter: CompiledFilter
    /// Values of the columns in the last row of the previous page; nil: it is the first page.
    let after: [SQLiteValue]?
    /// Rows, at most.
    let limit: Int

    /// The statement, and values for it. `selected`: columns of `track t` after those of the phase.
    func make(selecting selected: String? = nil) -> (sql: String, values: [SQLiteValue]) {
        var values = phase.values
        var sql = "SELECT t.id"
        for column in phase.columns { sql += ", \(column.sql)" }
        if let selected { sql += ", \(selected)" }
        let (tables, condition) = source
        sql += " FROM \(tables) WHERE \(condition)"
        if let after {
            if let seek = phase.seek, let first = phase.columns.first, let value = after.first {
                sql += " AND \(seek) \(first.isFalling ? "<=" : ">=") @"
                values.append(value)
            }
            if phase.seeksWithin, phase.columns.count == 2, after.count == 2 {
                // A condition that the index of each folder can seek: a page in a folder does not read the rows before
                // it.
                let (first, second) = (phase.columns[0].sql, phase.columns[1].sql)
                sql += " AND \(second) > CASE WHEN \(first) = @ THEN @ ELSE x'' END"
                values += after
            } else if let (condition, own) = following(after) {
                sql += " AND \(condition)"
                values += own
            }
        }
        sql += " AND (t.flags & \(TrackFlags.missing)) = 0 AND (\(filter.sql))"
        values += filter.values
        let order = phase.columns.filter { !$0.isConstant }.map { $0.isFalling ? "\($0.sql) DESC" : $0.sql }
        sql += " ORDER BY \(order.joined(separator: ", ")) LIMIT \(limit)"
        return (Self.numbered(sql), values)
    }

    /// The tables, and the condition that joins them; without the sets of tags if the statement does not use them.
    private var source: (tables: String, condition: String) {
        let (sets, join) = (" CROSS JOIN tagset s", "s.id = t.tagset")
        let asksSets = filter.sql.contains("s.") || phase.columns.contains { $0.sql.contains("s.") }
        guard !asksSets, phase.tables.hasSuffix(sets), phase.condition.hasSuffix(join) else {
            return (phase.tables, phase.condition)
        }
        return (String(phase.tables.dropLast(sets.count)), String(phase.condition.dropLast(join.count)) + "1")
    }

    /// The rows after a position: greater in the first column, or equal there and greater in the second, and so on.
    private func following(_ after: [SQLiteValue]) -> (String, [SQLiteValue])? {
        var result: (String, [SQLiteValue])?
        for (column, value) in zip(phase.columns, after).reversed() where !column.isConstant {
            let sign = column.isFalling ? "<" : ">"
            if let inner = result {
                result = (
                    "(\(column.sql) \(sign) @ OR (\(column.sql) = @ AND \(inner.0)))", [value, value] + inner.1
                )
            } else {
                result = ("(\(column.sql) \(sign) @)", [value])
            }
        }
        return result
    }

    /// The statement with a number for each `@`.
    static func numbered(_ sql: String) -> String {
        var result = ""
        result.reserveCapacity(sql.utf8.count + 32)
        var count = 0
        for character in sql.unicodeScalars {
            if character == "@" {
                count += 1
                result += "?\(count)"
            } else {
                result.unicodeScalars.append(character)
            }
        }
        return result
    }
}

extension TrackReader {
    private static let faultColumns = "SELECT folder, name, size, modified, inode, reason, at FROM fault"

    /// Faults, the newest first.
    package func faults(limit: Int = 100) throws(TrackDatabaseError) -> [TrackFault] {
        let most = core.shown == nil ? Int64(max(0, limit)) : -1
        return Array(
            try faults("\(Self.faultColumns) ORDER BY at DESC, folder, name LIMIT ?1", .integer(most))
                .prefix(max(0, limit)))
    }

    /// Faults of the files of one folder by name.
    package func faults(in folder: [UInt8]) throws(TrackDatabaseError) -> [[UInt8]: TrackFault] {
        var found: [[UInt8]: TrackFault] = [:]
        for fault in try faults("\(Self.faultColumns) WHERE folder = ?1", .blob(folder)) {
            found[fault.path.name] = fault
        }
        return found
    }

    /// The fault of a path; nil: there is none.
    package func fault(at path: TrackPath) throws(TrackDatabaseError) -> TrackFault? {
        try faults("\(Self.faultColumns) WHERE folder = ?1 AND name = ?2", .blob(path.folder), .blob(path.name)).first
    }

    /// Number of the faults.
    package func faultCount() throws(TrackDatabaseError) -> Int64 {
        if core.shown != nil { return Int64(try faults(Self.faultColumns).count) }
        return try core.database.number("SELECT count(*) FROM fault") ?? 0
    }

    private func faults(_ sql: String, _ values: SQLiteValue...) throws(TrackDatabaseError) -> [TrackFault] {
        let statement = try core.database.statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        var found: [TrackFault] = []
        while try statement.step() {
            guard VisibleFolders.shows(statement.blob(0), core.shown) else { continue }
            found.append(
                TrackFault(
                    path: TrackPath(folder: statement.blob(0), name: statement.blob(1)),
                    file: TrackFile(
                        size: statement.integer(2), modified: statement.integer(3), inode: statement.integer(4)),
                    reason: statement.text(5), at: Double(statement.integer(6))))
        }
        return found
    }
}

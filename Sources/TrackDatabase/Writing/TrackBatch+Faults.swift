import NowPlaying

/// Faults of files, and numbers that programs store beside the tracks.
extension TrackBatch {
    /// Stores a fault in place of an earlier one of its path. A track of that path stays unchanged.
    package func putFault(_ fault: TrackFault) throws(TrackDatabaseError) {
        try database.run(
            "INSERT OR REPLACE INTO fault VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)", .blob(fault.path.folder),
            .blob(fault.path.name), .integer(fault.file.size), .integer(fault.file.modified),
            .integer(fault.file.inode), .text(fault.reason), .integer(Int64(clamping: fault.at)))
        noteChange()
    }

    /// Removes the fault of a path, if there is one.
    package func clearFault(at path: TrackPath) throws(TrackDatabaseError) {
        let known = try database.number(
            "SELECT 1 FROM fault WHERE folder = ?1 AND name = ?2", .blob(path.folder), .blob(path.name))
        guard known != nil else { return }
        try database.run(
            "DELETE FROM fault WHERE folder = ?1 AND name = ?2", .blob(path.folder), .blob(path.name))
        noteChange()
    }

    /// Removes the faults of a folder and of those below it.
    package func clearFaults(below folder: [UInt8]) throws(TrackDatabaseError) {
        let known = try database.number("SELECT count(*) FROM fault") ?? 0
        if folder.isEmpty {
            try database.run("DELETE FROM fault")
        } else {
            try database.run(
                "DELETE FROM fault WHERE folder = ?1 OR folder > CAST(?1 || x'2F' AS BLOB) "
                    + "AND folder < CAST(?1 || x'30' AS BLOB)", .blob(folder))
        }
        if try database.number("SELECT count(*) FROM fault") ?? 0 != known { noteChange() }
    }

    /// Stores a number under a name; nil removes it. The version does not change: a mirror stores its cursor with it.
    package func setNumber(_ number: Int64?, for name: String) throws(TrackDatabaseError) {
        guard let number else { return try database.run("DELETE FROM mark WHERE name = ?1", .text(name)) }
        try database.run("INSERT OR REPLACE INTO mark VALUES(?1, ?2)", .text(name), .integer(number))
    }

    /// The number under a name, including changes of this batch; nil: there is none.
    package func number(for name: String) throws(TrackDatabaseError) -> Int64? {
        try database.number("SELECT number FROM mark WHERE name = ?1", .text(name))
    }
}

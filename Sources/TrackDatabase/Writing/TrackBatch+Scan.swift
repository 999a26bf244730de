import NowPlaying

/// Notes of scans.
extension TrackBatch {
    /// Notes a fault in place of the one that its file has.
    package func setFault(_ fault: FileFault) throws(TrackDatabaseError) {
        try database.run(
            "INSERT OR REPLACE INTO fault VALUES(?1, ?2, ?3, ?4)", .blob(fault.path.folder), .blob(fault.path.name),
            .text(fault.reason), .integer(Int64(clamping: fault.at)))
    }

    /// Removes the fault of a file, if it has one.
    package func removeFault(_ path: TrackPath) throws(TrackDatabaseError) {
        try database.run(
            "DELETE FROM fault WHERE folder = ?1 AND name = ?2", .blob(path.folder), .blob(path.name))
    }

    /// Keeps these folders of the library under their names, in place of those before.
    package func setRoots(_ roots: [StoredRoot]) throws(TrackDatabaseError) {
        try database.execute("DELETE FROM root")
        for root in roots {
            try database.run("INSERT INTO root VALUES(?1, ?2)", .blob(root.name), .blob(root.path))
        }
    }
}

import NowPlaying

/// The measured loudness of tracks. The version of the database does not count it: clients ask for it with the tracks.
extension TrackBatch {
    /// Stores what a look at a track's file found. `file`: the file that was read.
    package func setLoudness(
        _ finding: LoudnessFinding, of id: Int64, _ file: TrackFile
    ) throws(TrackDatabaseError) {
        // The track may be gone, or its file may be another one now.
        guard
            try database.number(
                "SELECT 1 FROM track WHERE id = ?1 AND size = ?2 AND modified = ?3", .integer(id),
                .integer(file.size), .integer(file.modified)) != nil
        else { return }
        let values: [SQLiteValue]
        switch finding {
        case .measured(let blocks, let truePeak):
            values = [
                blocks.integrated.map { .real($0) } ?? .null, .real(truePeak), .blob(blocks.packed), .null,
            ]
        case .failed(let reason): values = [.null, .null, .null, .text(reason)]
        }
        try database.run(
            "INSERT OR REPLACE INTO loudness VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, NULL, NULL, NULL)", .integer(id),
            .integer(file.size), .integer(file.modified), values[0], values[1], values[2], values[3])
    }

    /// Computes the loudness of an album if all of its tracks are measured; those that failed do not count. Returns the files
    /// of the album with what is known of them.
    @discardableResult
    package func settleLoudness(
        ofAlbum album: Int64
    ) throws(TrackDatabaseError) -> [(file: TrackFile, loudness: MeasuredLoudness)] {
        let statement = try database.statement(
            """
            SELECT t.id, t.size, t.modified, t.inode, \(LoudnessReader.isValid), l.level, l.peak, l.blocks
            FROM tagset s CROSS JOIN track t ON t.tagset = s.id LEFT JOIN loudness l ON l.track = t.id
            WHERE s.album = ?1 AND \(LoudnessReader.present)
            """)
        defer { statement.reset() }
        try statement.bind([.integer(album)])
        var files: [(id: Int64, file: TrackFile)] = []
        var known: [(id: Int64, file: TrackFile, loudness: MeasuredLoudness)] = []
        var blocks = LoudnessBlocks()
        var peak = 0.0
        while try statement.step() {
            guard statement.integer(4) != 0 else { return [] }
            let (id, file) = (
                statement.integer(0),
                TrackFile(size: statement.integer(1), modified: statement.integer(2), inode: statement.integer(3))
            )
            files.append((id, file))
            peak = max(peak, statement.optionalReal(6) ?? 0)
            if let part = LoudnessBlocks(packed: statement.blob(7)) { blocks.add(part) }
            if let level = statement.optionalReal(5) {
                known.append((id, file, MeasuredLoudness(track: level, truePeak: statement.optionalReal(6) ?? 0)))
            }
        }
        let mark = LoudnessGroup.mark(files.map { ($0.id, $0.file.size, $0.file.modified) })
        let level = blocks.integrated
        for (id, _) in files {
            try database.run(
                "UPDATE loudness SET album = ?2, albumpeak = ?3, mark = ?4 WHERE track = ?1", .integer(id),
                level.map { .real($0) } ?? .null, level == nil ? .null : .real(peak), .integer(mark))
        }
        return known.map { entry in
            var loudness = entry.loudness
            loudness.album = level
            loudness.albumPeak = level == nil ? nil : peak
            return (entry.file, loudness)
        }
    }

    /// Notes that tracks were measured: the version of the database changes once for all of them.
    package func noteLoudness() { noteChange() }

    /// Pauses the measuring for good, or continues it.
    package func setLoudnessPaused(_ isPaused: Bool) throws(TrackDatabaseError) {
        try database.run(
            "INSERT OR REPLACE INTO mark VALUES(?1, ?2)", .text(LoudnessMark.paused), .integer(isPaused ? 1 : 0))
    }
}

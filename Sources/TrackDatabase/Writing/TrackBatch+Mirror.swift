import NowPlaying

/// The mirror of the daemon's feedback. It is by content, so that a track gets its feedback when its content is
/// identified.
extension TrackBatch {
    /// Stores feedback, for all present and future tracks with these contents. `cursor`: the daemon's text for its
    /// position in the list of changes after them.
    package func mirror(_ items: [MirroredFeedback], cursor: String) throws(TrackDatabaseError) {
        for item in items {
            let identity = SQLiteValue.integer(item.identity)
            if item.feedback == TrackFeedback() {
                try database.run("DELETE FROM mirror WHERE identity = ?1", identity)
            } else {
                let values = Self.columns(item.feedback)
                try database.run(
                    "INSERT OR REPLACE INTO mirror VALUES(?1, ?2, ?3, ?4, ?5, ?6)", identity, values[0], values[1],
                    values[2], values[3], values[4])
            }
            let statement = try database.statement("SELECT id FROM track WHERE \(TrackSchema.hasIdentity)")
            try statement.bind([identity])
            var ids: [Int64] = []
            while try statement.step() { ids.append(statement.integer(0)) }
            statement.reset()
            for id in ids { try setFeedback(item.feedback, of: id) }
        }
        try database.run("INSERT OR REPLACE INTO cursor VALUES('feedback', ?1)", .text(cursor))
    }

    /// Removes all feedback: the daemon has another database.
    package func forgetFeedback() throws(TrackDatabaseError) {
        let known = try database.number("SELECT 1 FROM feedback LIMIT 1")
        try database.run("DELETE FROM mirror")
        try database.run("DELETE FROM cursor WHERE name = 'feedback'")
        guard known != nil else { return }
        try database.run("DELETE FROM feedback")
        noteChange()
    }

    /// The daemon's text for the position of the mirror; nil: nothing is mirrored.
    package func feedbackCursor() throws(TrackDatabaseError) -> String? {
        let statement = try database.statement("SELECT text FROM cursor WHERE name = 'feedback'")
        defer { statement.reset() }
        return try statement.step() ? statement.text(0) : nil
    }

    /// Gives a track the feedback of its content, which was identified or has changed.
    func applyMirror(_ identity: Int64, to id: Int64) throws(TrackDatabaseError) {
        let number = SQLiteValue.integer(identity)
        let known = try database.number("SELECT 1 FROM mirror WHERE identity = ?1", number)
        if known == nil {
            try database.run("DELETE FROM feedback WHERE track = ?1", .integer(id))
        } else {
            try database.run(
                """
                INSERT OR REPLACE INTO feedback
                SELECT ?1, liked, rating, plays, skips, played FROM mirror WHERE identity = ?2
                """, .integer(id), number)
        }
    }

    /// Columns of feedback in the order of the tables.
    static func columns(_ feedback: TrackFeedback) -> [SQLiteValue] {
        [
            .optional(feedback.liked.map { $0 ? 1 : 0 }),
            feedback.rating.map { .real($0.isFinite ? min(max($0, 0), 5) : 0) } ?? .null,
            .integer(feedback.playCount), .integer(feedback.skipCount),
            .optional(feedback.lastPlayed.map { Int64(clamping: $0) }),
        ]
    }
}

import AudioCore
import CLibraryNames
import Glibc
import LinuxSystem
package import NowPlaying
import Synchronization

/// Saved feedback about items, in a file of the state directory (SQLite, write-ahead log). Worker threads use it one at
/// a time; every call may block, unless its comment says otherwise. A process that is killed during a write loses that
/// change only.
package final class FeedbackDatabase: Sendable {
    /// Reason why the database is unusable, in words for people.
    package struct Failure: Error, Equatable {
        package var message: String

        /// A failure with these words.
        package init(message: String) { self.message = message }
    }

    private struct State {
        var connection: SQLiteConnection?
        /// Nil: not checked yet.
        var exists: Bool?
    }

    /// Version of the table of items; a database of a later version is kept aside.
    static let version = 1

    private let directory: String
    private static let name = "feedback.db"
    private var path: String { directory + "/" + Self.name }
    /// Positions at which items resume.
    package let positions: ResumePositions
    private let state = Mutex(State())
    /// Reports that `takeReports` has not returned yet.
    private let reports = Mutex<[String]>([])
    private let emptiness = Atomic<Bool>(false)

    /// The database of a state directory; it is not opened yet.
    package init(stateDirectory: String) {
        directory = stateDirectory
        positions = ResumePositions(stateDirectory: stateDirectory)
    }

    /// True if any feedback was ever saved. The first call reads the disk.
    package var exists: Bool {
        state.withLock { state in
            let exists = state.exists ?? (access(path, F_OK) == 0)
            state.exists = exists
            emptiness.store(!exists, ordering: .releasing)
            return exists
        }
    }

    /// True if a check found no saved feedback. Any thread; never blocks.
    package var isKnownToBeEmpty: Bool { emptiness.load(ordering: .acquiring) }

    /// Reports about an unusable database; returned once. Any thread; never blocks.
    package func takeReports() -> [String] {
        reports.withLock { reports in
            defer { reports = [] }
            return reports
        }
    }

    /// Saved feedback about an item. Throws `Failure`.
    package func record(of identity: String) throws(Failure) -> FeedbackRecord {
        try use { connection throws(SQLiteConnection.Failure) in try Self.read(identity, connection) }
    }

    /// Changes the feedback about an item, whose address is now `uri`, and returns the result; `positions.save` writes
    /// its resume position. Throws `Failure`: nothing was changed.
    package func change(
        _ identity: String, at uri: String?, _ edit: @Sendable (inout Feedback) -> Void
    ) throws(Failure) -> Change {
        var change = try use { connection throws(SQLiteConnection.Failure) in
            let before = try Self.read(identity, connection)
            var after = before.feedback
            edit(&after)
            guard after != before.feedback else { return Change(record: before, isNew: false) }
            return try connection.transaction { () throws(SQLiteConnection.Failure) in
                try Self.write(identity, after, connection)
                if let uri, uri != before.uri {
                    _ = try connection.row(
                        "UPDATE change SET uri = ?2 WHERE identity = ?1", [.text(identity), .text(uri)])
                }
                return Change(record: try Self.read(identity, connection), isNew: true)
            }
        }
        change.movesPosition = positions.set(ResumePositions.Position(change.record.feedback), of: identity)
        return change
    }

    /// Result of a change.
    package struct Change: Sendable {
        /// The item's record after the change.
        package let record: FeedbackRecord
        /// False: the edit changed nothing.
        package let isNew: Bool
        /// True if its resume position must be saved.
        package fileprivate(set) var movesPosition = false

        /// A result, by its parts.
        package init(record: FeedbackRecord, isNew: Bool) {
            self.record = record
            self.isNew = isNew
        }
    }

    /// Releases memory that only requests need. Blocks for a moment; on a worker.
    package func rest() {
        guard state.withLock({ $0.connection != nil }) else { return }
        SQLiteLibrary.shared?.rest()
        ProgramPages.giveBackHeap()
    }

    // MARK: Opening

    /// Runs `body` on the open database. A damaged one is kept aside and replaced by a new one.
    func use<Result: Sendable>(
        _ body: (SQLiteConnection) throws(SQLiteConnection.Failure) -> Result
    ) throws(Failure) -> Result {
        guard let library = SQLiteLibrary.shared else {
            throw Failure(message: "libsqlite3 is missing: install the package \(LIBRARY_SQLITE3_PACKAGE)")
        }
        let result = state.withLock { (state: inout State) -> Swift.Result<Result, Failure> in
            do throws(SQLiteConnection.Failure) {
                return .success(try use(library, &state, body))
            } catch {
                guard error.isDamage else { return .failure(Failure(message: SQLiteLibrary.words(error.code))) }
            }
            state.connection = nil
            putAside(as: "broken", "the database of ratings and bookmarks is damaged")
            do throws(SQLiteConnection.Failure) {
                return .success(try use(library, &state, body))
            } catch {
                return .failure(Failure(message: SQLiteLibrary.words(error.code)))
            }
        }
        return try result.get()
    }

    private func use<Result>(
        _ library: SQLiteLibrary, _ state: inout State,
        _ body: (SQLiteConnection) throws(SQLiteConnection.Failure) -> Result
    ) throws(SQLiteConnection.Failure) -> Result {
        let connection: SQLiteConnection
        if let present = state.connection { connection = present } else { connection = try open(library) }
        state.connection = connection
        let result = try body(connection)
        state.exists = true
        emptiness.store(false, ordering: .releasing)
        return result
    }

    private func open(_ library: SQLiteLibrary) throws(SQLiteConnection.Failure) -> SQLiteConnection {
        do throws(SQLiteConnection.Failure) {
            var connection = try begin(library)
            var version = try Self.version(of: connection)
            if version > Double(Self.version) {
                putAside(as: "newer", "the database of ratings and bookmarks is from a later version of the daemon")
                connection = try begin(library)
                version = 0
            }
            try connection.execute(Self.schema)
            if try !Self.hasChanges(connection) {
                try connection.transaction { () throws(SQLiteConnection.Failure) in
                    try connection.execute(Self.changeSchema)
                }
            }
            // A second write of the same version would spin up a disk at each start.
            if version != Double(Self.version) { try connection.execute("PRAGMA user_version = \(Self.version)") }
            return connection
        } catch {
            // A file on a read-only disk can still be read.
            guard error.isUnwritable, access(path, R_OK) == 0 else { throw error }
            guard let file = FilePath(Array(path.utf8)) else { throw error }
            return try SQLiteConnection(library, MediaSource.fileURI(file) + "?immutable=1", isReadOnly: true)
        }
    }

    /// The index of the log stays in the memory of the process: as a mapped file, it would kill the process when the
    /// disk is full.
    private func begin(_ library: SQLiteLibrary) throws(SQLiteConnection.Failure) -> SQLiteConnection {
        let connection = try SQLiteConnection(library, path)
        var status = stat()
        if stat(path, &status) != 0 || status.st_mode & 0o777 != 0o600 { chmod(path, 0o600) }
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA busy_timeout = 1000")
        return connection
    }

    private static func version(of connection: SQLiteConnection) throws(SQLiteConnection.Failure) -> Double {
        try connection.row("PRAGMA user_version", columns: 1).first.flatMap { $0 } ?? 0
    }

    private func putAside(as kind: String, _ what: String) {
        let kept = StateDisk.keepAside(directory, Self.name, as: kind)
        // These files belong to the database that was kept aside.
        for ending in ["-wal", "-shm"] { rename(path + ending, (kept ?? path + ".broken") + ending) }
        let report = what + (kept.map { ": it is kept as \($0), and a new one replaces it" } ?? "")
        reports.withLock { $0.append(report) }
    }

    private static let schema = """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -128;
        CREATE TABLE IF NOT EXISTS item (
            identity TEXT PRIMARY KEY, rating REAL, liked REAL, disliked REAL, bookmark REAL, leftAt REAL, plays REAL,
            skips REAL, lastPlayed REAL
        ) WITHOUT ROWID;
        """

    // MARK: Rows

    private static func read(
        _ identity: String, _ connection: SQLiteConnection
    ) throws(SQLiteConnection.Failure) -> FeedbackRecord {
        let rows = try connection.rows(
            """
            SELECT change.number, change.uri, \(fields) FROM item
            LEFT JOIN change ON change.identity = item.identity WHERE item.identity = ?1
            """, [.text(identity)], columns: 2 + fieldCount, limit: 1)
        let origin = try origin(connection)
        guard let row = rows.first else {
            return FeedbackRecord(
                identity: identity, feedback: Feedback(), cursor: FeedbackCursor(origin: origin, number: 0))
        }
        return FeedbackRecord(
            identity: identity, uri: row[1].text, feedback: feedback(row.dropFirst(2).map(\.number)),
            cursor: FeedbackCursor(origin: origin, number: Int64(row[0].number ?? 0)))
    }

    /// Columns of an item's feedback, in the order of `feedback`.
    static let fields = "rating, liked, disliked, bookmark, leftAt, plays, skips, lastPlayed"
    /// Number of these columns.
    static let fieldCount: Int32 = 8

    /// Feedback from its columns; damaged values are dropped.
    static func feedback(_ row: [Double?]) -> Feedback {
        var feedback = Feedback()
        feedback.rating = row[0].flatMap { (0...5).contains($0) ? $0 : nil }
        feedback.isLiked = row[1] == 1
        feedback.isDisliked = row[2] == 1
        feedback.bookmark = ResumePositions.seconds(row[3])
        feedback.left = ResumePositions.seconds(row[4])
        feedback.playCount = count(row[5])
        feedback.skipCount = count(row[6])
        feedback.lastPlayed = row[7].flatMap { (0...1e12).contains($0) ? $0 : nil }
        return feedback
    }

    /// A count from the database; a damaged number becomes 0.
    private static func count(_ value: Double?) -> Int { max(0, value.flatMap { Int(exactly: $0.rounded()) } ?? 0) }

    private static func write(
        _ identity: String, _ feedback: Feedback, _ connection: SQLiteConnection
    ) throws(SQLiteConnection.Failure) {
        _ = try connection.row(
            "INSERT OR REPLACE INTO item VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            [
                .text(identity), .number(feedback.rating), .number(feedback.isLiked ? 1 : 0),
                .number(feedback.isDisliked ? 1 : 0), .number(feedback.bookmark), .number(feedback.left),
                .number(Double(feedback.playCount)), .number(Double(feedback.skipCount)), .number(feedback.lastPlayed),
            ])
    }
}

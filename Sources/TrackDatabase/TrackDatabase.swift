import CLinux
import Glibc

/// The database of the library: tracks, their tags, folders and albums in one SQLite file. Any thread; every call may
/// block on the disk.
package final class TrackDatabase: Sendable {
    /// State of the file when the database was opened.
    package enum Opening: Equatable, Sendable {
        case asItWas
        case made
        /// A damaged file was renamed and an empty database created; `message` reports it for people.
        case remade(message: String)
    }

    /// The file.
    package let path: String
    /// The folder of the file.
    package var folder: String {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        return slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// State of the file when it was opened.
    package let opening: Opening

    /// A database of an earlier version of the program.
    package struct Earlier: Equatable, Sendable {
        /// Version of its tables.
        package let tables: Int
        /// Its summary; zeros if it can't be read.
        package let summary: TrackReader.Summary
    }

    /// The database at a path if it is of an earlier version, which `init` upgrades: seconds of work for a million
    /// tracks. Nil: it is not.
    package static func earlier(path: String) -> Earlier? {
        guard access(path, F_OK) == 0, let database = try? SQLiteDatabase(path: path, isReadOnly: true),
            let version = try? TrackSchema.earlierVersion(database)
        else { return nil }
        let none = TrackReader.Summary(version: 0, instance: 0, tracks: 0, duration: 0)
        return Earlier(tables: version, summary: (try? TrackReader.summary(database)) ?? none)
    }

    /// Opens or creates the database at `path`. A damaged file is set aside; one of a newer version is refused.
    /// `progress` follows an upgrade and can end it: then an error is thrown and the file stays unchanged.
    package init(path: String, progress: UpgradeProgress = UpgradeProgress()) throws(TrackDatabaseError) {
        self.path = path
        let isNew = access(path, F_OK) != 0
        do {
            try Self.prepare(path, progress)
            opening = isNew ? .made : .asItWas
        } catch .damaged(let reason) {
            let aside = try Self.setAside(path)
            try Self.prepare(path, progress)
            opening = .remade(
                message: "the database of the library was damaged (\(reason)): it lies as \(aside) now, and the next "
                    + "scan builds a new one")
        }
    }

    /// Renames a damaged file; no reader or writer may have it open. Returns its new path.
    @discardableResult
    package static func setAside(_ path: String) throws(TrackDatabaseError) -> String {
        let aside = path + ".damaged"
        for suffix in ["-wal", "-shm", ""] {
            unlink(aside + suffix)
            if rename(path + suffix, aside + suffix) != 0, errno != ENOENT {
                throw .failed("can't rename \(path + suffix): \(String(cString: strerror(errno)))")
            }
        }
        return aside
    }

    /// A writer; there may be one at a time, and readers never wait for it.
    package func writer() throws(TrackDatabaseError) -> TrackWriter {
        let database = try SQLiteDatabase(path: path, isReadOnly: false)
        try database.execute(Self.writing)
        return try TrackWriter(database)
    }

    /// A reader. Each reading thread needs one of its own. `timeLimit`: seconds after which a query ends.
    /// `mostCombinations`: combinations of values of several tags in one query, at most.
    package func reader(
        timeLimit: Double = 5, mostCombinations: Int = 500_000
    ) throws(TrackDatabaseError) -> TrackReader {
        let database = try SQLiteDatabase(path: path, isReadOnly: true)
        try database.execute("PRAGMA query_only = 1; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY")
        return TrackReader(database, timeLimit: timeLimit, mostCombinations: mostCombinations)
    }

    private static let writing = """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY;
        PRAGMA secure_delete = 0; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 16777216
        """

    private static func prepare(_ path: String, _ progress: UpgradeProgress) throws(TrackDatabaseError) {
        // For its owner alone; SQLite gives the files beside it the same mode.
        let descriptor = linux_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
        let database = try SQLiteDatabase(path: path, isReadOnly: false)
        try TrackSchema.prepare(database, progress)
    }
}

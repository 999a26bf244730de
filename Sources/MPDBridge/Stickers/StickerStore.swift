import CSQLite
import Glibc
import LinuxSystem
import MPDProtocol
import NowPlayingClient

/// The bridge's own stickers, in a file of SQLite, for one thread at a time. Its calls may wait for a disk.
final class StickerStore {
    private let handle: OpaquePointer

    /// SQLITE_TRANSIENT: SQLite makes a copy.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// Maximum bytes of a name, of a value and of a subject.
    private static let maximumName = 256
    private static let maximumText = 4096
    /// Bytes of memory of a row, without its texts.
    private static let costOfRow = 96

    /// Opens the file in a folder, and makes both if they are missing. Throws the failure in words.
    init(folder: String) throws(MPDFailure) {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/" + part
            mkdir(path, 0o700)
        }
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let result = sqlite3_open_v2(folder + "/stickers.db", &handle, flags, nil)
        guard result == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw MPDFailure(.system, "stickers cannot be kept: \(String(cString: sqlite3_errstr(result)))")
        }
        self.handle = handle
        sqlite3_busy_timeout(handle, 1000)
        try execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA max_page_count = 16384;
            CREATE TABLE IF NOT EXISTS sticker(
                type TEXT NOT NULL, uri TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
                PRIMARY KEY(type, uri, name)) WITHOUT ROWID;
            CREATE INDEX IF NOT EXISTS sticker_name ON sticker(type, name, uri);
            """)
    }

    deinit { sqlite3_close_v2(handle) }

    /// The folder of the bridge's state, or one in memory (see `StateFolder`); nil: there is no default.
    static func folder() -> String? {
        func variable(_ name: String) -> String? { SocketLocation.variable(name).flatMap { $0.isEmpty ? nil : $0 } }
        return wantedFolder().map {
            StateFolder.usable($0, of: "nowplaying-mpd", keeps: "stickers", environment: variable)
        }
    }

    private static func wantedFolder() -> String? {
        func variable(_ name: String) -> String? { SocketLocation.variable(name).flatMap { $0.isEmpty ? nil : $0 } }
        if let folder = variable("STATE_DIRECTORY")?.split(separator: ":").first { return String(folder) }
        if let folder = variable("XDG_STATE_HOME") { return folder + "/nowplaying-mpd" }
        if geteuid() == 0, variable("XDG_RUNTIME_DIR") == nil { return "/var/lib/nowplaying-mpd" }
        return variable("HOME").map { $0 + "/.local/state/nowplaying-mpd" }
    }

    // MARK: Rows

    /// The value; nil: there is none.
    func value(_ subject: StickerSubject, _ name: String) throws(MPDFailure) -> String? {
        try rows(
            "SELECT value FROM sticker WHERE type = ?1 AND uri = ?2 AND name = ?3",
            [subject.type, subject.key, name]
        ).first?[0]
    }

    /// All names and values, by name. Throws if they need more than `most` bytes.
    func values(_ subject: StickerSubject, most: Int) throws(MPDFailure) -> [(name: String, value: String)] {
        try rows(
            "SELECT name, value FROM sticker WHERE type = ?1 AND uri = ?2 ORDER BY name", [subject.type, subject.key],
            most: most
        ).map { ($0[0], $0[1]) }
    }

    /// Sets a value.
    func set(_ subject: StickerSubject, _ name: String, _ value: String) throws(MPDFailure) {
        guard name.utf8.count <= Self.maximumName, value.utf8.count <= Self.maximumText,
            subject.key.utf8.count <= Self.maximumText
        else {
            throw MPDFailure(.argument, "the sticker is too long: shorten its name, value or subject")
        }
        _ = try rows(
            "INSERT INTO sticker VALUES(?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET value = excluded.value",
            [subject.type, subject.key, name, value])
    }

    /// Removes a value, or all values if the name is nil; false: there was none.
    func remove(_ subject: StickerSubject, _ name: String?) throws(MPDFailure) -> Bool {
        let sql = "DELETE FROM sticker WHERE type = ?1 AND uri = ?2"
        if let name {
            _ = try rows(sql + " AND name = ?3", [subject.type, subject.key, name])
        } else {
            _ = try rows(sql, [subject.type, subject.key])
        }
        return sqlite3_changes(handle) > 0
    }

    /// Keys and values of all subjects of a type that have this name. Throws if they need more than `most` bytes.
    func all(_ type: String, _ name: String, most: Int) throws(MPDFailure) -> [(key: String, value: String)] {
        try rows("SELECT uri, value FROM sticker WHERE type = ?1 AND name = ?2", [type, name], most: most)
            .map { ($0[0], $0[1]) }
    }

    /// The used names, with their types. Throws if they need more than `most` bytes.
    func names(most: Int) throws(MPDFailure) -> [(name: String, type: String)] {
        try rows("SELECT DISTINCT name, type FROM sticker ORDER BY name, type", [], most: most).map { ($0[0], $0[1]) }
    }

    /// Bytes of memory of a row with these texts.
    static func cost(_ texts: String...) -> Int { texts.reduce(costOfRow) { $0 + $1.utf8.count } }

    private func execute(_ sql: String) throws(MPDFailure) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    private func failure() -> MPDFailure {
        // The file has 64 MiB at most.
        let isFull = sqlite3_errcode(handle) == SQLITE_FULL
        let reason = isFull ? "there are too many; delete some" : String(cString: sqlite3_errmsg(handle))
        return MPDFailure(.system, "stickers cannot be kept: \(reason)")
    }

    private func rows(_ sql: String, _ values: [String], most: Int = .max) throws(MPDFailure) -> [[String]] {
        var made: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &made, nil) == SQLITE_OK, let statement = made else {
            throw failure()
        }
        defer { sqlite3_finalize(statement) }
        for (index, value) in values.enumerated() {
            let bytes = Array(value.utf8)
            sqlite3_bind_text(statement, Int32(index + 1), bytes, Int32(bytes.count), Self.transient)
        }
        var rows: [[String]] = []
        var left = most
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                let row = (0..<sqlite3_column_count(statement)).map { column in
                    let count = Int(sqlite3_column_bytes(statement, column))
                    guard let text = sqlite3_column_text(statement, column) else { return "" }
                    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
                }
                rows.append(row)
                left -= row.reduce(Self.costOfRow) { $0 + $1.utf8.count }
                guard left >= 0 else { throw HeldShare.tooMuch }
            case SQLITE_DONE: return rows
            case _: throw failure()
            }
        }
    }
}

/// A subject that can have stickers.
struct StickerSubject: Equatable, Sendable {
    /// `song`, `playlist`, `filter` or the name of a tag.
    let type: String
    /// Uri of a song, name of a playlist, text of a filter, or value of a tag.
    let key: String
}

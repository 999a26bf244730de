/// Tables of the database, and the steps from one version of them to the next.
///
/// Texts are interned: `value` has each text of each tag once, and `ordered` has them in the order of their folded text
/// with counts. Tags that the tracks of an album share are in a `tagset`, to which many tracks refer; so a query about
/// artists or genres reads a tenth of the rows. Data of one track is in `track`, its title as the number of a value.
/// The name of a file without a title takes the place of its title, see `TrackFlags.isNamedByFile`.
enum TrackSchema {
    /// Version of the tables that this program makes.
    static let version = 5
    /// Application id in the file, for file(1): "NpTk".
    static let application: Int64 = 0x4E70_546B

    /// The condition that a row of `track` has the identity ?1. The index has 24 bits of it, which makes it small.
    /// Without the plus, SQLite would substitute ?1 for the identity in the first test too, and not use the index.
    static let hasIdentity = "identity & 16777215 = ?1 & 16777215 AND identity IS NOT NULL AND +identity = ?1"

    /// The statements from each version to the next.
    private static let steps = [first, second, third, fourth, fifth]

    /// The rows that a step counts, in SQL, by the version before it.
    private static let counted: [Int: String] = [
        2: "SELECT number FROM meta WHERE name = 'tracks'",
        3: "SELECT ifnull((SELECT max(id) FROM value), 0) + ifnull((SELECT max(id) FROM tagset), 0)",
    ]

    /// Creates the tables or upgrades them. `progress` follows that and can end it, which throws.
    static func prepare(_ database: SQLiteDatabase, _ progress: UpgradeProgress) throws(TrackDatabaseError) {
        let found = Int(try database.number("PRAGMA user_version") ?? 0)
        let application = try database.number("PRAGMA application_id") ?? 0
        let tables = try database.number("SELECT count(*) FROM sqlite_master") ?? 0
        guard application == Self.application || tables == 0 && found == 0 else { throw .foreign }
        guard found <= version else { throw .newerVersion(found: found, known: version) }
        if found == version {
            // Reads a page of each table that a first query needs: a truncated file fails here.
            for table in [
                "meta", "folder", "value", "ordered", "tagset", "track", "album", "fault", "placement", "loudness",
            ] {
                _ = try database.number("SELECT count(*) FROM (SELECT 1 FROM \(table) LIMIT 1)")
            }
            return
        }
        try database.execute("PRAGMA journal_mode = WAL; PRAGMA cache_size = -32768")
        database.countCalls(progress)
        var total: Int64 = 0
        for step in found..<version where found > 0 {
            if let rows = counted[step] { total += try database.number(rows) ?? 0 }
        }
        progress.begin(total: Int(clamping: total))
        for step in found..<version {
            try database.whileWanted {
                !progress.isAbandoned
            } _: { () throws(TrackDatabaseError) in
                try carryOut(step, database, progress)
            }
        }
        progress.finish()
    }

    /// Version of the tables if the database is ours and earlier; nil: it is not.
    static func earlierVersion(_ database: SQLiteDatabase) throws(TrackDatabaseError) -> Int? {
        let found = Int(try database.number("PRAGMA user_version") ?? 0)
        guard try database.number("PRAGMA application_id") == Self.application else { return nil }
        return (1..<version).contains(found) ? found : nil
    }

    /// Runs one step completely or not at all.
    private static func carryOut(
        _ step: Int, _ database: SQLiteDatabase, _ progress: UpgradeProgress
    ) throws(TrackDatabaseError) {
        try database.execute("BEGIN IMMEDIATE")
        do throws(TrackDatabaseError) {
            try database.execute(steps[step])
            if progress.isAbandoned { throw .failed("its update was ended") }
            try database.execute(
                "PRAGMA user_version = \(step + 1); PRAGMA application_id = \(Self.application); COMMIT")
        } catch {
            try? database.execute("ROLLBACK")
            throw error
        }
    }

    private static let first = """
        CREATE TABLE meta(name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
        INSERT INTO meta VALUES('version', 0), ('instance', random()), ('tracks', 0), ('duration', 0), ('removed', 0);

        CREATE TABLE mark(name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE fault(
            folder BLOB NOT NULL, name BLOB NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL,
            inode INTEGER NOT NULL, reason TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY(folder, name)) WITHOUT ROWID;

        CREATE TABLE folder(id INTEGER PRIMARY KEY, parent INTEGER, name BLOB NOT NULL, path BLOB NOT NULL);
        CREATE UNIQUE INDEX folder_path ON folder(path);
        CREATE UNIQUE INDEX folder_child ON folder(parent, name);
        INSERT INTO folder VALUES(1, NULL, x'', x'');

        CREATE TABLE value(id INTEGER PRIMARY KEY, tag INTEGER NOT NULL, text TEXT NOT NULL);
        CREATE TABLE ordered(
            tag INTEGER NOT NULL, folded TEXT NOT NULL, text TEXT NOT NULL, id INTEGER NOT NULL,
            tracks INTEGER NOT NULL, duration INTEGER NOT NULL, PRIMARY KEY(tag, folded, text)) WITHOUT ROWID;

        CREATE TABLE album(
            id INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL, title INTEGER NOT NULL, artist INTEGER,
            various INTEGER NOT NULL, tracks INTEGER NOT NULL, duration INTEGER NOT NULL);
        CREATE UNIQUE INDEX album_key ON album(key);
        CREATE INDEX album_title ON album(title);

        CREATE TABLE tagset(
            id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, album INTEGER, tags INTEGER NOT NULL, said INTEGER NOT NULL,
            packed BLOB NOT NULL, tracks INTEGER NOT NULL, duration INTEGER NOT NULL);
        CREATE INDEX tagset_hash ON tagset(hash);
        CREATE INDEX tagset_album ON tagset(album);
        CREATE TABLE tagset_value(
            value INTEGER NOT NULL, place INTEGER NOT NULL, tagset INTEGER NOT NULL,
            PRIMARY KEY(value, place, tagset)) WITHOUT ROWID;

        CREATE TABLE format(
            id INTEGER PRIMARY KEY, codec TEXT, rate INTEGER, sample INTEGER, channels INTEGER);
        CREATE TABLE track(
            id INTEGER PRIMARY KEY AUTOINCREMENT, folder INTEGER NOT NULL, name BLOB NOT NULL,
            tagset INTEGER NOT NULL, title INTEGER, disc INTEGER, number INTEGER, duration INTEGER, format INTEGER,
            flags INTEGER NOT NULL, added INTEGER NOT NULL, modified INTEGER NOT NULL, size INTEGER NOT NULL,
            inode INTEGER NOT NULL, identity INTEGER, own BLOB, extra BLOB);
        CREATE UNIQUE INDEX track_name ON track(folder, name);
        CREATE INDEX track_tagset ON track(tagset);
        CREATE INDEX track_title ON track(title);
        CREATE INDEX track_added ON track(added);
        CREATE INDEX track_identity ON track(identity & 16777215) WHERE identity IS NOT NULL;
        CREATE INDEX track_missing ON track(size) WHERE (flags & 1) != 0;
        CREATE INDEX track_unidentified ON track(id) WHERE identity IS NULL AND (flags & 1) = 0;
        CREATE TABLE own_value(
            value INTEGER NOT NULL, track INTEGER NOT NULL, PRIMARY KEY(value, track)) WITHOUT ROWID;

        CREATE TABLE feedback(
            track INTEGER PRIMARY KEY, liked INTEGER, rating REAL, plays INTEGER NOT NULL, skips INTEGER NOT NULL,
            played INTEGER);

        CREATE TABLE mirror(
            identity INTEGER PRIMARY KEY, liked INTEGER, rating REAL, plays INTEGER NOT NULL, skips INTEGER NOT NULL,
            played INTEGER);
        CREATE TABLE cursor(name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE listfile(
            folder BLOB NOT NULL, name BLOB NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL,
            PRIMARY KEY(folder, name)) WITHOUT ROWID;

        CREATE VIRTUAL TABLE word USING fts5(
            words, content = '', detail = none, columnsize = 0, prefix = '1 2 3', tokenize = 'ascii');
        CREATE VIRTUAL TABLE vocabulary USING fts5vocab(word, row);
        CREATE VIRTUAL TABLE part USING fts5(
            folded, content = '', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1');
        """
}

/// Later steps.
extension TrackSchema {
    /// The path of a folder includes its name and the folder above it, and the order of paths keeps the folders of a
    /// folder together. A walk by titles skips tracks by their sets of tags, without reading their rows.
    fileprivate static let second = """
        DROP INDEX folder_child;
        ALTER TABLE folder DROP COLUMN name;
        ALTER TABLE folder DROP COLUMN parent;
        DROP INDEX track_title;
        CREATE INDEX track_title ON track(title, tagset);
        ANALYZE meta;
        \(forgetsSets)
        """

    /// The folders of the tracks of a set of tags, with counts: a reader with some visible folders counts sets in place
    /// of tracks.
    fileprivate static let third = """
        CREATE TABLE placement(
            tagset INTEGER NOT NULL, folder INTEGER NOT NULL, tracks INTEGER NOT NULL, duration INTEGER NOT NULL,
            PRIMARY KEY(tagset, folder)) WITHOUT ROWID;
        INSERT INTO placement SELECT tagset, folder, count(*), sum(ifnull(counted(duration), 0)) FROM track
            WHERE (flags & 1) = 0 GROUP BY tagset, folder;
        """

    /// Most texts are their folded texts with capitals, and need no copy beside them, see `SpellingMark`. The space of
    /// the old table is released when the library is idle, see `TrackWriter.optimizeIfLarge`.
    fileprivate static let fourth = """
        CREATE TABLE spelled(
            tag INTEGER NOT NULL, folded TEXT NOT NULL, spelling TEXT NOT NULL, id INTEGER NOT NULL,
            tracks INTEGER NOT NULL, duration INTEGER NOT NULL, PRIMARY KEY(tag, folded, spelling)) WITHOUT ROWID;
        INSERT INTO spelled SELECT tag, folded, spelling(text), counted(id), tracks, duration FROM ordered ORDER BY 1, 2, 3;
        DROP TABLE ordered;
        ALTER TABLE spelled RENAME TO ordered;
        DROP INDEX tagset_hash;
        UPDATE tagset SET hash = counted(hash) >> 24 & 16777215;
        CREATE INDEX tagset_hash ON tagset(hash);
        DELETE FROM mark WHERE name = 'optimized';
        UPDATE track SET flags = flags | \(TrackFlags.isUnreadable) WHERE format IS NULL AND duration IS NULL AND id IN (
            SELECT t.id FROM fault f CROSS JOIN folder d ON d.path = f.folder
            CROSS JOIN track t ON t.folder = d.id AND t.name = f.name);
        """

    /// The measured loudness of the file of a track with this size and change: `level` in LUFS, `peak` as an amplitude, and the
    /// packed `LoudnessBlocks`; all are NULL after a failure. `album` and `albumpeak` are those of its album, whose files had
    /// this mark (`LoudnessGroup`).
    fileprivate static let fifth = """
        CREATE TABLE loudness(
            track INTEGER PRIMARY KEY, size INTEGER NOT NULL, modified INTEGER NOT NULL, level REAL, peak REAL,
            blocks BLOB, failure TEXT, album REAL, albumpeak REAL, mark INTEGER);
        """

    /// Deletes the statistics of the sets of tags. With them, SQLite would read all sets before the first row of a
    /// page, to make a Bloom filter of the passing ones.
    static let forgetsSets = "DELETE FROM sqlite_stat1 WHERE tbl = 'tagset'; ANALYZE sqlite_schema;"
}

/// Bits of `track.flags`.
enum TrackFlags {
    /// Its file is missing.
    static let missing: Int64 = 1
    /// It has lyrics.
    static let hasLyrics: Int64 = 2
    /// It has a picture.
    static let hasPicture: Int64 = 4
    /// Its file has no title: the name of the file takes its place.
    static let isNamedByFile: Int64 = 8
    /// No sound was found in its file.
    static let isUnreadable: Int64 = 16
}

/// Queries of the measuring of loudness about all files, independent of the visible folders. Used by the thread that uses the
/// reader.
package struct LoudnessReader {
    private let core: ReaderCore

    /// The tracks of an album that count: their files are present, and contain sound.
    static let present = "(t.flags & \(TrackFlags.missing | TrackFlags.isUnreadable)) = 0"
    /// The condition that a row of `loudness` is about the present file of its track.
    static let isValid = "l.size = t.size AND l.modified = t.modified"

    /// A reader of this database.
    init(_ core: ReaderCore) { self.core = core }

    /// Tracks that are to be measured, and those that are.
    package struct Plan: Equatable, Sendable {
        /// Tracks without loudness tags, and all others of their albums.
        package var total = 0
        /// Those of them that were measured or failed.
        package var done = 0
        /// Those of the done ones that failed.
        package var failed = 0
        /// Numbers of the tracks that are to be measured; those of an album follow each other.
        package var waiting: [Int64] = []
        /// Numbers of albums whose tracks are all measured, and whose own value is missing or of other tracks.
        package var unsettled: [Int64] = []
    }

    /// The plan for all tracks. `includesTagged`: also of those whose files have loudness tags. Takes a second for a million
    /// tracks.
    package func plan(includesTagged: Bool) throws(TrackDatabaseError) -> Plan {
        let statement = try core.database.statement(
            """
            SELECT s.album, t.id, t.extra, t.size, t.modified, \(Self.isValid), l.failure IS NOT NULL, l.mark
            FROM tagset s CROSS JOIN track t ON t.tagset = s.id LEFT JOIN loudness l ON l.track = t.id
            WHERE \(Self.present) ORDER BY s.album
            """)
        defer { statement.reset() }
        try statement.bind([])
        var plan = Plan()
        var group = LoudnessGroup(album: nil)
        while try statement.step() {
            let album = statement.optionalInteger(0)
            if album == nil || album != group.album {
                group.add(to: &plan, includesTagged: includesTagged)
                group = LoudnessGroup(album: album)
            }
            var hasGain = false
            statement.withBytes(2) { hasGain = TrackNumbersBlob.hasGain($0) }
            group.add(
                LoudnessGroup.Member(
                    id: statement.integer(1), file: (statement.integer(3), statement.integer(4)),
                    isMeasured: statement.integer(5) != 0, hasFailed: statement.integer(6) != 0,
                    mark: statement.optionalInteger(7)),
                isTagged: hasGain)
        }
        group.add(to: &plan, includesTagged: includesTagged)
        return plan
    }

    /// The place and the file of a track, and its album; nil: no track has this number.
    package func file(
        of id: Int64
    ) throws(TrackDatabaseError) -> (path: TrackPath, file: TrackFile, album: Int64?)? {
        let statement = try core.database.statement(
            """
            SELECT t.folder, t.name, t.size, t.modified, t.inode, s.album FROM track t
            CROSS JOIN tagset s ON s.id = t.tagset WHERE t.id = ?1 AND \(Self.present)
            """)
        defer { statement.reset() }
        guard try statement.bind([.integer(id)]).step() else { return nil }
        let path = TrackPath(folder: try RecordReader(core).folder(statement.integer(0)), name: statement.blob(1))
        let file = TrackFile(
            size: statement.integer(2), modified: statement.integer(3), inode: statement.integer(4))
        return (path, file, statement.optionalInteger(5))
    }

    /// Passes the files of all tracks whose loudness is known, with it, in the order of their numbers.
    package func all(_ take: (TrackFile, MeasuredLoudness) -> Void) throws(TrackDatabaseError) {
        let statement = try core.database.statement(
            """
            SELECT t.size, t.modified, t.inode, l.level, l.peak, l.album, l.albumpeak FROM loudness l
            CROSS JOIN track t ON t.id = l.track WHERE \(Self.isValid) AND l.level IS NOT NULL ORDER BY l.track
            """)
        defer { statement.reset() }
        try statement.bind([])
        while try statement.step() {
            let file = TrackFile(
                size: statement.integer(0), modified: statement.integer(1), inode: statement.integer(2))
            if let loudness = MeasuredLoudness(statement, from: 3) { take(file, loudness) }
        }
    }

    /// True if the measuring is paused.
    package func isPaused() throws(TrackDatabaseError) -> Bool {
        try core.database.number("SELECT number FROM mark WHERE name = ?1", .text(LoudnessMark.paused)) == 1
    }
}

/// Names of lasting marks in the database.
enum LoudnessMark {
    static let paused = "loudness-paused"
}

extension MeasuredLoudness {
    /// The loudness in the columns level, peak, album and albumpeak from this one on; nil: it is not known.
    init?(_ row: SQLiteStatement, from column: Int32) {
        guard let level = row.optionalReal(column), let peak = row.optionalReal(column + 1) else { return nil }
        self.init(
            track: level, truePeak: peak, album: row.optionalReal(column + 2), albumPeak: row.optionalReal(column + 3))
    }
}

/// The tracks of one album, or one track that is on none, for the plan.
struct LoudnessGroup {
    /// A track.
    struct Member {
        /// Its number.
        let id: Int64
        /// Bytes, and nanoseconds since 1970 of the last change.
        let file: (size: Int64, modified: Int64)
        let isMeasured: Bool
        let hasFailed: Bool
        /// The mark of the album when its value was made; nil: it has none.
        let mark: Int64?
    }

    /// Number of the album; nil: the track is on none.
    let album: Int64?
    private var members: [Member] = []
    private var needsLoudness = false

    /// An empty group.
    init(album: Int64?) { self.album = album }

    /// Adds a track. `isTagged`: its file has loudness tags.
    mutating func add(_ member: Member, isTagged: Bool) {
        members.append(member)
        if !isTagged { needsLoudness = true }
    }

    /// Adds the group to a plan.
    func add(to plan: inout LoudnessReader.Plan, includesTagged: Bool) {
        guard needsLoudness || includesTagged, !members.isEmpty else { return }
        plan.total += members.count
        let waiting = members.filter { !$0.isMeasured }
        plan.done += members.count - waiting.count
        plan.failed += members.count { $0.isMeasured && $0.hasFailed }
        plan.waiting += waiting.map(\.id)
        guard let album, waiting.isEmpty else { return }
        let mark = Self.mark(members.map { ($0.id, $0.file.size, $0.file.modified) })
        if members.contains(where: { !$0.hasFailed && $0.mark != mark }) { plan.unsettled.append(album) }
    }

    /// A number for the files of an album, whatever their order: another file, or one more, gives another number.
    static func mark(_ files: [(id: Int64, size: Int64, modified: Int64)]) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for file in files.sorted(by: { $0.id < $1.id }) {
            for part in [file.id, file.size, file.modified] {
                hash = (hash ^ UInt64(bitPattern: part)) &* 0x100_0000_01B3
                hash ^= hash >> 29
            }
        }
        return Int64(bitPattern: hash)
    }
}

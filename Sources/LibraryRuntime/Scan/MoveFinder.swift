import TrackDatabase

/// Finds tracks whose files were moved: the same size, length, format and tags, or the same file on its disk.
struct MoveFinder: ~Copyable {
    private let reader: TrackReader
    /// Names of the present roots: a track on a missing disk has not moved.
    private let present: [[UInt8]]
    private var claimed: Set<Int64> = []
    /// For sizes with more missing tracks than `most`: the numbers of the tracks by their files.
    private var crowds: [Int64: [TrackFile: [Int64]]] = [:]
    /// Missing tracks of one size whose tags are compared, at most.
    private static let most = 100

    /// A finder that asks this reader.
    init(_ reader: sending TrackReader, present: [[UInt8]]) {
        self.reader = reader
        self.present = present
    }

    /// Number of the oldest missing track that matches this new one; nil: none does. Each is returned once.
    mutating func missing(like record: TrackRecord) throws(TrackDatabaseError) -> Int64? {
        for id in try candidates(record.file) where !claimed.contains(id) {
            guard let old = try reader.track(id), old.isMissing, isPresent(old.record.path.folder),
                Self.isSame(old.record, record)
            else { continue }
            claimed.insert(id)
            return id
        }
        return nil
    }

    /// Numbers of missing tracks of this size: the oldest ones; of a crowd, first those of the same file.
    private mutating func candidates(_ file: TrackFile) throws(TrackDatabaseError) -> [Int64] {
        let oldest = try reader.scan.missingTracks(size: file.size, limit: Self.most)
        guard oldest.count == Self.most else { return oldest }
        if crowds[file.size] == nil {
            // No track becomes missing while a scan searches for moves.
            crowds[file.size] = Dictionary(grouping: try reader.scan.missingFiles(size: file.size), by: \.file)
                .mapValues { $0.map(\.id) }
        }
        return (crowds[file.size]?[file] ?? []) + oldest
    }

    private func isPresent(_ folder: [UInt8]) -> Bool {
        present.contains { name in
            folder.starts(with: name) && (folder.count == name.count || folder[name.count] == UInt8(ascii: "/"))
        }
    }

    /// True if both are the same file, or the same track with the same tags.
    static func isSame(_ old: TrackRecord, _ new: TrackRecord) -> Bool {
        guard old.file.size == new.file.size else { return false }
        if old.file.inode == new.file.inode, old.file.modified == new.file.modified { return true }
        // A file without length and tags is known by its size only.
        guard let duration = old.duration, let other = new.duration, !old.tags.isEmpty else { return false }
        return abs(duration - other) < 0.001 && old.tags == Self.kept(new.tags) && old.format == new.format
            && old.numbers == new.numbers
    }

    /// Tags in the form of the database.
    private static func kept(_ tags: [TrackTag: [String]]) -> [TrackTag: [String]] {
        tags.compactMapValues { texts in
            let kept = Spelling.kept(texts)
            return kept.isEmpty ? nil : kept
        }
    }
}

/// An entry of a folder.
package enum FolderEntry: Equatable, Sendable {
    /// A folder, by its path.
    case folder([UInt8])
    case track(StoredTrack)
}

/// Lists folders.
struct FolderBrowser {
    private let core: ReaderCore
    private let records: RecordReader

    /// A browser of this database.
    init(_ core: ReaderCore) {
        self.core = core
        records = RecordReader(core)
    }

    /// A page of a folder: its folders by name, then its tracks by name; nil: there is no such folder. Folders without
    /// any present track are left out.
    func browse(
        _ folder: [UInt8], limit: Int, after: String?
    ) throws(TrackDatabaseError) -> Page<FolderEntry>? {
        try core.question("the folder has very many entries") { () throws(TrackDatabaseError) in
            guard let id = try core.database.number("SELECT id FROM folder WHERE path = ?1", .blob(folder)) else {
                return nil
            }
            let visible = try core.visible()
            let isShown = visible?.ids.contains(id) ?? true
            guard isShown || visible?.isAbove(folder) == true else { return nil }
            let limit = min(max(1, limit), TrackQuery.maximumLimit)
            let question = "folder \(id)"
            var place: (kind: Int64, name: [UInt8]) = (0, [])
            if let after {
                let values = try QueryCursor(after, question: question).values
                guard values.count == 2, case .integer(let kind) = values[0], case .blob(let name) = values[1] else {
                    throw .invalidCursor
                }
                place = (kind, name)
            }
            var names: [(kind: Int64, name: [UInt8], id: Int64)] = []
            if place.kind == 0 {
                names = try folders(in: folder, after: place.name, limit + 1, isShown ? nil : visible).map {
                    (0, $0.name, $0.id)
                }
            }
            if names.count <= limit, isShown {
                let after = place.kind == 1 ? place.name : nil
                names += try trackNames(in: id, after: after, limit + 1 - names.count).map { (1, $0.name, $0.id) }
            }
            var rows: [FolderEntry] = []
            for entry in names.prefix(limit) {
                if entry.kind == 0 {
                    rows.append(.folder(try records.folder(entry.id)))
                } else if let track = try records.load(entry.id) {
                    rows.append(.track(track))
                }
            }
            let last = names.count > limit ? names[limit - 1] : nil
            return Page(
                rows: rows, next: last.map { QueryCursor([.integer($0.kind), .blob($0.name)]).text(question) },
                version: try core.totals().version)
        }
    }

    /// True if a present track is in the folder or below it.
    func holdsTracks(_ folder: [UInt8]) throws(TrackDatabaseError) -> Bool {
        let tracks =
            "SELECT 1 FROM folder d CROSS JOIN track t ON t.folder = d.id AND (t.flags & \(TrackFlags.missing)) = 0"
        let found = try core.database.number(
            """
            \(tracks) WHERE d.path = ?1 UNION ALL
            \(tracks) WHERE d.path > CAST(?1 || x'2F' AS BLOB) AND d.path < CAST(?1 || x'30' AS BLOB) LIMIT 1
            """, .blob(folder))
        return found != nil
    }

    private func folders(
        in folder: [UInt8], after name: [UInt8], _ limit: Int, _ visible: VisibleFolders?
    ) throws(TrackDatabaseError) -> [FolderChildren.Child] {
        var children = FolderChildren(core.database, in: folder, after: name)
        var found: [FolderChildren.Child] = []
        var looked = 0
        while found.count < limit, let child = try children.next() {
            looked += 1
            if looked & 0xFF == 0 { try core.database.checkDeadline() }
            if let visible, !visible.ids.contains(child.id), !visible.isAbove(child.path) { continue }
            if try holdsTracks(child.path) { found.append(child) }
        }
        return found
    }

    private func trackNames(
        in folder: Int64, after: [UInt8]?, _ limit: Int
    ) throws(TrackDatabaseError) -> [(name: [UInt8], id: Int64)] {
        let statement = try core.database.statement(
            """
            SELECT name, id FROM track WHERE folder = ?1 AND name > ?2 AND (flags & \(TrackFlags.missing)) = 0
            ORDER BY name LIMIT ?3
            """)
        defer { statement.reset() }
        try statement.bind([.integer(folder), .blob(after ?? []), .integer(Int64(limit))])
        var found: [(name: [UInt8], id: Int64)] = []
        while try statement.step() { found.append((statement.blob(0), statement.integer(1))) }
        return found
    }
}

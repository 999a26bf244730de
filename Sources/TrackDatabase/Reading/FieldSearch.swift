/// Finds albums and tracks that have the searched words together: each word is in the names of their artists, in the
/// title of the album or in that of the track, and at least one is in their own title. It begins with the rarest word,
/// and reads a bounded number of rows: of words that very many texts share, it finds only some hits.
struct FieldSearch {
    /// An album or a track.
    struct Hit {
        var kind: SearchKind
        /// Its number.
        var id: Int64
        /// Its title.
        var text: String
        var rank: SearchRank
    }

    /// Pieces of the search in a text, one bit each.
    private struct Match {
        /// As whole words.
        var whole: UInt8 = 0
        /// As beginnings of words.
        var begun: UInt8 = 0

        static func | (one: Match, other: Match) -> Match {
            Match(whole: one.whole | other.whole, begun: one.begun | other.begun)
        }
    }

    /// Texts with a piece.
    private struct Texts {
        /// Artists, then titles of albums.
        var shared: [Int64] = []
        var titles: [Int64] = []
        /// False: there are more.
        var isComplete = true
        var count: Int { isComplete ? shared.count + titles.count : .max }
    }

    private let core: ReaderCore
    private let records: RecordReader
    private let pieces: [SearchWords.Piece]
    private let visible: VisibleFolders?
    private let most: Int
    private var beginnings: WordBeginnings
    private let all: UInt8
    private var work = 4000
    private var matches: [Int64: Match] = [:]
    private var sets: [Int64: Match] = [:]
    private var titles: [IdSet?] = []
    private var hits: [Hit] = []
    private var counts: [SearchKind: Int] = [:]

    /// Pieces, at most.
    private static let mostPieces = 8
    /// Listed texts of one piece, at most.
    private static let mostTexts = 4000
    /// With so few texts, no rarer piece is searched.
    private static let few = 500

    /// A search that finds about `most` of each kind.
    init(
        _ core: ReaderCore, wanted: SearchText, beginnings: WordBeginnings, visible: VisibleFolders?, most: Int
    ) throws(TrackDatabaseError) {
        self.beginnings = beginnings
        self.core = core
        records = RecordReader(core)
        self.visible = visible
        self.most = most
        pieces = Array(wanted.pieces.prefix(Self.mostPieces))
        all = UInt8(truncatingIfNeeded: 1 << pieces.count - 1)
    }

    /// Albums and tracks, unordered.
    mutating func find(_ kinds: [SearchKind]) throws(TrackDatabaseError) -> [Hit] {
        let kinds = kinds.filter { $0 == .album || $0 == .track }
        if kinds.isEmpty { return [] }
        titles = pieces.map { _ in nil }
        var rarest: Texts?
        // Long pieces are mostly rare.
        for (index, piece) in pieces.enumerated().sorted(by: { Self.length($0.element) > Self.length($1.element) }) {
            let found = try texts(piece)
            // No text has this piece, so no hit has all pieces.
            if found.count == 0 { return [] }
            if found.isComplete { titles[index] = IdSet(found.titles) }
            if found.count < rarest?.count ?? .max || rarest == nil { rarest = found }
            if found.count <= Self.few { break }
        }
        guard let rarest else { return [] }
        for value in rarest.shared where wants(kinds) { try look(value, kinds) }
        if kinds.contains(.track) {
            for title in rarest.titles where wants([.track]) { try look(title: title) }
        }
        return hits
    }

    private static func length(_ piece: SearchWords.Piece) -> Int { piece.words.reduce(0) { $0 + $1.utf8.count } }

    private func wants(_ kinds: [SearchKind]) -> Bool {
        work > 0 && kinds.contains { counts[$0, default: 0] < most }
    }

    private mutating func texts(_ piece: SearchWords.Piece) throws(TrackDatabaseError) -> Texts {
        let statement = try core.database.statement("SELECT rowid FROM word WHERE word MATCH ?1 AND rowid >= ?2")
        defer { statement.reset() }
        let first = SearchKind.artist.firstDocument
        try statement.bind([.text(try beginnings.expression([piece])), .integer(first)])
        var texts = Texts()
        var rest = Self.mostTexts
        let firstTitle = SearchKind.track.firstDocument
        while try statement.step() {
            let document = statement.integer(0)
            if document < firstTitle {
                texts.shared.append(SearchKind.id(document))
            } else {
                texts.titles.append(SearchKind.id(document))
            }
            rest -= 1
            if rest == 0 {
                texts.isComplete = false
                break
            }
        }
        return texts
    }

    /// Searches the sets of tags with a value, and their tracks.
    private mutating func look(_ value: Int64, _ kinds: [SearchKind]) throws(TrackDatabaseError) {
        let statement = try core.database.statement(
            """
            SELECT s.id, s.album, s.packed FROM tagset_value l CROSS JOIN tagset s ON s.id = l.tagset
            WHERE l.value = ?1 AND s.tracks > 0
            """)
        try statement.bind([.integer(value)])
        var found: [(id: Int64, album: Int64?, packed: [UInt8])] = []
        while found.count < work, try statement.step() {
            found.append((statement.integer(0), statement.optionalInteger(1), statement.blob(2)))
        }
        statement.reset()
        for set in found where work > 0 && sets[set.id] == nil {
            let match = try match(set: set.id, set.packed)
            if kinds.contains(.album), let album = set.album { try look(album: album, set.packed, match) }
            if kinds.contains(.track) { try look(tracksOf: set.id, match) }
        }
    }

    private mutating func look(album: Int64, _ packed: [UInt8], _ match: Match) throws(TrackDatabaseError) {
        guard match.begun == all, counts[.album, default: 0] < most,
            let title = PackedValues.unpack(packed).first(where: { $0.tag == TrackTag.album.rawValue })
        else { return }
        let own = try self.match(text: title.value)
        // The search of single texts finds a title with all pieces.
        guard own.begun != 0, own.begun != all else { return }
        add(.album, album, try records.value(title.value, keeps: false).text, match)
    }

    private mutating func look(tracksOf set: Int64, _ match: Match) throws(TrackDatabaseError) {
        let statement = try core.database.statement(
            "SELECT t.id, t.title, t.folder FROM track t INDEXED BY track_tagset WHERE t.tagset = ?1 "
                + "AND (t.flags & \(TrackFlags.missing)) = 0")
        defer { statement.reset() }
        try statement.bind([.integer(set)])
        while wants([.track]), try statement.step() {
            work -= 1
            if let visible, !visible.ids.contains(statement.integer(2)) { continue }
            try look(track: statement.integer(0), title: statement.integer(1), match)
        }
    }

    private mutating func look(title: Int64) throws(TrackDatabaseError) {
        let statement = try core.database.statement(
            "SELECT t.id, t.folder, s.id, s.packed FROM track t INDEXED BY track_title CROSS JOIN tagset s "
                + "WHERE t.title = ?1 AND s.id = t.tagset AND (t.flags & \(TrackFlags.missing)) = 0")
        defer { statement.reset() }
        try statement.bind([.integer(title)])
        while wants([.track]), try statement.step() {
            work -= 1
            if let visible, !visible.ids.contains(statement.integer(1)) { continue }
            let match = try match(set: statement.integer(2), statement.blob(3))
            try look(track: statement.integer(0), title: title, match)
        }
    }

    private mutating func look(track: Int64, title: Int64, _ match: Match) throws(TrackDatabaseError) {
        var begun: UInt8 = 0
        var unlisted: UInt8 = 0
        for (index, set) in titles.enumerated() {
            let bit: UInt8 = 1 << UInt8(index)
            if let set {
                if set.contains(title) { begun |= bit }
            } else {
                unlisted |= bit
            }
        }
        // Without a listed piece, the title need not be read.
        guard begun | match.begun | unlisted == all else { return }
        if unlisted != 0 { begun |= try self.match(text: title).begun & unlisted }
        guard begun != 0, begun != all, begun | match.begun == all else { return }
        let own = try self.match(text: title)
        add(.track, track, try records.value(title, keeps: false).text, own | match)
    }

    private mutating func add(_ kind: SearchKind, _ id: Int64, _ text: String, _ match: Match) {
        let rank: SearchRank = match.whole == all ? .fieldWords : .fieldBeginnings
        hits.append(Hit(kind: kind, id: id, text: text, rank: rank))
        counts[kind, default: 0] += 1
    }

    /// Pieces in the artists and the album of a set.
    private mutating func match(set: Int64, _ packed: [UInt8]) throws(TrackDatabaseError) -> Match {
        if let known = sets[set] { return known }
        work -= 2
        var match = Match()
        for (number, value) in PackedValues.unpack(packed) {
            let kind = TrackTag(rawValue: number)?.searchKind
            if kind == .artist || kind == .album { match = match | (try self.match(text: value)) }
        }
        sets[set] = match
        return match
    }

    private mutating func match(text id: Int64) throws(TrackDatabaseError) -> Match {
        if let known = matches[id] { return known }
        work -= 1
        let words = FoldedWords(Folding.fold(try records.value(id, keeps: false).text))
        var match = Match()
        for (index, piece) in pieces.enumerated() {
            let bit: UInt8 = 1 << UInt8(index)
            // A whole word is also a beginning.
            guard has(piece, words.hasBeginning) else { continue }
            match.begun |= bit
            if has(piece, words.has) { match.whole |= bit }
        }
        matches[id] = match
        return match
    }

    private func has(_ piece: SearchWords.Piece, _ fits: (String) -> Bool) -> Bool {
        piece.words.allSatisfy(fits) || piece.joined.map(fits) == true
    }
}

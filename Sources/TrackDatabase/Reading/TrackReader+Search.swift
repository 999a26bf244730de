/// Something that a search found.
package struct SearchHit: Equatable, Sendable {
    package var kind: SearchKind
    /// The tag that has the text; nil for a folder. An artist may be found as a composer.
    package var tag: TrackTag?
    /// The text that was found: an artist, a title, the name of a folder.
    package var text: String
    /// The album, for that kind; the track, for that kind; else 0.
    package var id: Int64
    /// The path, for a folder.
    package var path: [UInt8]
    /// Tracks of it that are there.
    package var tracks: Int64
    /// The place of the text in the order of answers, see `SearchRank`.
    package var rank: SearchRank
}

/// A grade of fitness of a text for a search; the best first.
package enum SearchRank: UInt8, Comparable, Sendable {
    /// It is the text searched for.
    case whole
    /// It begins with it, as whole words.
    case firstWords
    /// It begins with it.
    case beginning
    /// It has each searched word as a whole word.
    case words
    /// It has words that begin with each searched word.
    case wordBeginnings
    /// The words of a track or an album have each searched word as a whole: of its artists, its album and its title.
    case fieldWords
    /// The words of a track or an album have words that begin with each searched word: of its artists, its album and its title.
    case fieldBeginnings
    /// The text stands anywhere in it.
    case anywhere

    package static func < (one: SearchRank, other: SearchRank) -> Bool { one.rawValue < other.rawValue }
}

extension TrackReader {
    /// Finds artists, albums, tracks, genres and folders, the best first: whole words and beginnings before the rest, artists
    /// before albums before tracks. One or two letters find beginnings of words, and in scripts without spaces anywhere; three
    /// or more find it anywhere.
    package func search(
        _ text: String, kinds: [SearchKind] = SearchKind.allCases, limit: Int = 50
    ) throws(TrackDatabaseError) -> [SearchHit] {
        try question("very many texts have these letters") { () throws(TrackDatabaseError) in
            let wanted = SearchText(text)
            guard !wanted.folded.isEmpty else { return [] }
            let limit = min(max(1, limit), 1000)
            var finder = try SearchFinder(reader: self, wanted: wanted, limit: limit)
            try finder.find(kinds)
            return try finder.hits()
        }
    }
}

/// A text to search for.
struct SearchText {
    /// Folded, without spaces around it.
    let folded: String
    /// Its words, each with its pieces together where punctuation parts it.
    let words: [String]
    /// Its pieces between spaces.
    let pieces: [SearchWords.Piece]
    /// The question for whole words, in the language of FTS5.
    let wholeWords: String

    /// A text as a client typed it.
    init(_ text: String) {
        let scalars = Folding.fold(String(text.unicodeScalars.prefix(200))).unicodeScalars
        let trimmed = scalars.drop { $0 == " " }
        folded = String(String.UnicodeScalarView(trimmed.reversed().drop { $0 == " " }.reversed()))
        pieces = SearchWords.pieces(folded)
        words = pieces.flatMap(\.words)
        wholeWords = Self.expression(pieces) { SearchExpression.quoted($0) }
    }

    /// The question for texts with all pieces; `term` writes a word.
    static func expression<Failure>(
        _ pieces: [SearchWords.Piece], _ term: (String) throws(Failure) -> String
    ) throws(Failure) -> String {
        var parts: [String] = []
        for piece in pieces.prefix(16) {
            var words: [String] = []
            for word in piece.words.prefix(16) { words.append(try term(word)) }
            let together = words.joined(separator: " AND ")
            if let joined = piece.joined {
                parts.append("((\(together)) OR \(try term(joined)))")
            } else {
                parts.append("(\(together))")
            }
        }
        return parts.joined(separator: " AND ")
    }

    /// True: it stands anywhere in a folded text.
    func stands(in other: String) -> Bool { Self.contains(other, folded) }

    /// The grade of a folded text; nil: it does not fit.
    func rank(_ other: String) -> SearchRank? {
        if other == folded { return .whole }
        let bytes = other.utf8
        if bytes.starts(with: folded.utf8) {
            let rest = other.unicodeScalars.dropFirst(folded.unicodeScalars.count)
            return rest.first.map(SearchWords.isWord) == true ? .beginning : .firstWords
        }
        let own = FoldedWords(other)
        if words.allSatisfy(own.has) { return .words }
        if words.allSatisfy(own.hasBeginning) { return .wordBeginnings }
        let joined = pieces.compactMap(\.joined)
        if !joined.isEmpty, joined.allSatisfy(own.hasBeginning) { return .wordBeginnings }
        return folded.unicodeScalars.count >= 3 && Self.contains(other, folded) ? .anywhere : nil
    }

    private static func contains(_ text: String, _ part: String) -> Bool {
        var (text, part) = (text, part)
        return text.withUTF8 { text in
            part.withUTF8 { part in
                guard let first = part.first, text.count >= part.count else { return part.isEmpty }
                for start in 0...(text.count - part.count) where text[start] == first {
                    if text[start..<(start + part.count)].elementsEqual(part) { return true }
                }
                return false
            }
        }
    }
}

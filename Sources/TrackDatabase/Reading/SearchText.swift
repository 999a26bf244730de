/// A text to search for.
struct SearchText {
    /// Folded, without spaces around it.
    let folded: String
    /// Its words; words that punctuation separates are also joined.
    let words: [String]
    /// Its pieces between spaces.
    let pieces: [SearchWords.Piece]
    /// The query for whole words, in the language of FTS5.
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

    /// The query for texts with all pieces; `term` writes a word.
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

    /// True if another folded text contains this one.
    func stands(in other: String) -> Bool { Self.contains(other, folded) }

    /// The rank of a folded text; nil: it does not match.
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

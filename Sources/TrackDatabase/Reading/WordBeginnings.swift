/// Writes beginnings of words for the index of words. SQLite collects all words of a beginning of more than three
/// letters again for each statement. If few words have the beginning, a query for these words avoids that cost.
struct WordBeginnings {
    private let database: SQLiteDatabase
    private var known: [String: Term] = [:]

    /// Words that replace a beginning, at most.
    private static let mostWords = 200
    /// Letters of the beginnings that the index has in order.
    private static let indexed = 3

    /// A part of an expression.
    private struct Term {
        var text: String
        /// True if a statement with it can restart at no cost.
        var isStreamed: Bool
    }

    /// Beginnings in this database.
    init(_ database: SQLiteDatabase) { self.database = database }

    /// The query for texts with words of all these beginnings.
    mutating func expression(_ pieces: [SearchWords.Piece]) throws(TrackDatabaseError) -> String {
        try SearchText.expression(pieces) { word throws(TrackDatabaseError) in try term(word).text }
    }

    /// True if statements with the expression of these pieces may restart at many rows.
    mutating func isStreamed(_ pieces: [SearchWords.Piece]) throws(TrackDatabaseError) -> Bool {
        for word in pieces.flatMap({ $0.words + ($0.joined.map { [$0] } ?? []) }) {
            if try !term(word).isStreamed { return false }
        }
        return true
    }

    private mutating func term(_ word: String) throws(TrackDatabaseError) -> Term {
        if let term = known[word] { return term }
        let term = try made(word)
        known[word] = term
        return term
    }

    private func made(_ word: String) throws(TrackDatabaseError) -> Term {
        let beginning = SearchExpression.quoted(word) + "*"
        if word.unicodeScalars.count <= Self.indexed { return Term(text: beginning, isStreamed: true) }
        guard case .text(let end) = TextBounds.end(word) else { return Term(text: beginning, isStreamed: false) }
        let statement = try database.statement("SELECT term FROM vocabulary WHERE term >= ?1 AND term < ?2")
        defer { statement.reset() }
        try statement.bind([.text(word), .text(end)])
        var words: [String] = []
        while try statement.step() {
            if words.count == Self.mostWords { return Term(text: beginning, isStreamed: false) }
            words.append(SearchExpression.quoted(statement.text(0)))
        }
        if words.isEmpty { return Term(text: beginning, isStreamed: true) }
        return Term(text: words.count == 1 ? words[0] : "(" + words.joined(separator: " OR ") + ")", isStreamed: true)
    }
}

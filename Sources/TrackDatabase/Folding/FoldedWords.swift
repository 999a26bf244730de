/// The words of a folded text, for a comparison with the words of a search. Most texts have only letters and digits of
/// ASCII; their words are compared in place, since a search compares thousands of texts.
struct FoldedWords {
    private enum Form {
        /// Bytes of words of ASCII between spaces.
        case plain(String)
        /// The words of any other text, as in the index.
        case listed([String])
    }

    private let form: Form

    /// The words of a folded text.
    init(_ folded: String) {
        if folded.utf8.allSatisfy({ Self.isPlain($0) }) {
            form = .plain(folded)
        } else {
            form = .listed(SearchWords.pieces(folded).flatMap { $0.words + ($0.joined.map { [$0] } ?? []) })
        }
    }

    /// True if `word`, in the form of `SearchWords`, is one of them.
    func has(_ word: String) -> Bool {
        switch form {
        case .plain(let text): Self.stands(word, in: text, asWhole: true)
        case .listed(let words): words.contains(word)
        }
    }

    /// True if one of them begins with `word`.
    func hasBeginning(_ word: String) -> Bool {
        switch form {
        case .plain(let text): Self.stands(word, in: text, asWhole: false)
        case .listed(let words): words.contains { $0.utf8.starts(with: word.utf8) }
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
    }

    /// True if `word` is at the start of a run of letters, and at its end too if `asWhole`. The index cuts long words.
    private static func stands(_ word: String, in text: String, asWhole: Bool) -> Bool {
        var (word, text) = (word, text)
        return text.withUTF8 { text in
            word.withUTF8 { word in
                guard let first = word.first else { return false }
                let ends = asWhole && word.count < SearchWords.longest
                var start = 0
                while start + word.count <= text.count {
                    if text[start] == first, start == 0 || text[start - 1] == 0x20 {
                        let end = start + word.count
                        let isWhole = !ends || end == text.count || text[end] == 0x20
                        if isWhole, text[start..<end].elementsEqual(word) { return true }
                    }
                    start += 1
                }
                return false
            }
        }
    }
}

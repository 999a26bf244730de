import TestLibraries
import Testing

@testable import TrackDatabase

/// The words of texts of ASCII, which are compared where they stand, are those of the index.
@Suite struct FoldedWordsTests {
    /// Texts from few letters, so that words begin alike, repeat and end each other; with punctuation and letters of other
    /// scripts in some.
    private static func texts(_ count: Int, _ letters: [String], seed: UInt64) -> [String] {
        var numbers = SeededNumbers(seed: seed)
        return (0..<count).map { _ in
            (0..<numbers.number(below: 14)).map { _ in letters[numbers.number(below: letters.count)] }.joined()
        }
    }

    /// The words as the index has them.
    private static func listed(_ text: String) -> [String] {
        SearchWords.pieces(text).flatMap { $0.words + ($0.joined.map { [$0] } ?? []) }
    }

    @Test(
        "words and their beginnings are those of the index",
        arguments: [
            ["a", "b", " "], ["a", "b", "1", " ", " "], ["a", "b", " ", "/"], ["a", " ", "'", "é", "愛", "ア"],
        ])
    func words(_ letters: [String]) {
        let texts = Self.texts(400, letters, seed: UInt64(letters.count))
        let wanted = Set(texts.prefix(60).flatMap(Self.listed)).union(["a", "ab", "aa", "c"])
        for text in texts {
            let (words, listed) = (FoldedWords(text), Self.listed(text))
            for word in wanted {
                #expect(words.has(word) == listed.contains(word), "\(text) \(word)")
                #expect(
                    words.hasBeginning(word) == listed.contains { $0.utf8.starts(with: word.utf8) }, "\(text) \(word)")
            }
        }
    }

    @Test("a word longer than those of the index is found as the index has it", arguments: [63, 64, 65, 80])
    func long(_ length: Int) {
        let text = "b " + String(repeating: "a", count: length) + " c"
        let words = FoldedWords(text)
        for other in [62, 63, 64, 65, 80] {
            guard let word = Self.listed(String(repeating: "a", count: other)).first else { continue }
            #expect(words.has(word) == Self.listed(text).contains(word), "\(other)")
            #expect(words.hasBeginning(word) == (word.utf8.count <= min(length, SearchWords.longest)), "\(other)")
        }
    }
}

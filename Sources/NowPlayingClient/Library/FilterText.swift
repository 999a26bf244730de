import ControlProtocol

/// Filters of the library as people type them: `genre=jazz rating>=4 or artist~"miles d"`.
///
/// Tests stand one after the other and must all hold; `or` parts groups, one of which must hold; `not` turns the test after it.
/// A test is a field, an operator and a value, or a text that any tag contains. Quotes keep spaces together.
struct FilterText {
    private var rest: Substring

    /// Operators, each before those that it begins with.
    private static let operators = ["!=", "!~", ">=", "<=", "=", "~", ">", "<"]
    private static let quotes: Set<Character> = ["\"", "'"]

    /// The filter of a text as the protocol has it.
    static func json(_ text: String) throws(LibraryTest.Mistake) -> JSONValue {
        var reader = FilterText(rest: text[...])
        var groups: [JSONValue] = []
        var tests: [JSONValue] = []
        while reader.skipSpaces() {
            if reader.takes("or") {
                groups.append(try group(tests))
                tests = []
                continue
            }
            let isNot = reader.takes("not")
            if isNot, !reader.skipSpaces() { throw mistake }
            let test = try reader.test()
            tests.append(isNot ? ["not": test] : test)
        }
        groups.append(try group(tests))
        return groups.count == 1 ? groups[0] : ["any": .array(groups)]
    }

    private static func group(_ tests: [JSONValue]) throws(LibraryTest.Mistake) -> JSONValue {
        guard let all = LibraryTest.all(tests) else { throw mistake }
        return all
    }

    private static let mistake = LibraryTest.Mistake(
        expected: "tests such as genre=jazz rating>=4, or a filter of the protocol as JSON")

    // MARK: Reading

    /// False: nothing follows.
    private mutating func skipSpaces() -> Bool {
        rest = rest.drop(while: \.isWhitespace)
        return !rest.isEmpty
    }

    /// Takes a whole word, whose case makes no difference.
    private mutating func takes(_ word: String) -> Bool {
        let found = rest.prefix { !$0.isWhitespace }
        guard found.lowercased() == word else { return false }
        rest = rest.dropFirst(found.count)
        return true
    }

    private mutating func test() throws(LibraryTest.Mistake) -> JSONValue {
        let name = rest.prefix { $0.isASCII && $0.isLetter || $0 == "-" || $0 == "_" }
        let behind = rest.dropFirst(name.count)
        let near = behind.drop(while: \.isWhitespace)
        guard !name.isEmpty, let found = Self.operators.first(where: { near.hasPrefix($0) }) else {
            return LibraryTest.contains("anyTag", try value())
        }
        rest = near.dropFirst(found.count)
        // A value may stand apart from its operator if that stands apart from its field.
        if near.startIndex != behind.startIndex { _ = skipSpaces() }
        return try FilterTerm(field: String(name), found, try value()).json
    }

    /// A text in quotes, or up to the next space.
    private mutating func value() throws(LibraryTest.Mistake) -> String {
        guard let quote = rest.first, Self.quotes.contains(quote) else {
            let word = rest.prefix { !$0.isWhitespace }
            rest = rest.dropFirst(word.count)
            return String(word)
        }
        let text = rest.dropFirst().prefix { $0 != quote }
        rest = rest.dropFirst(text.count + 1)
        guard rest.first == quote else { throw LibraryTest.Mistake(expected: "a \(quote) at the end of a quoted text") }
        rest = rest.dropFirst()
        return String(text)
    }
}

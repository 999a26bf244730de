import ControlProtocol

/// Filters of the library in the form for people: `genre=jazz rating>=4 or artist~"miles d"`.
///
/// Consecutive tests must all be true. `or` separates groups, one of which must be true; `not` negates the next test. A
/// test is a field, an operator and a value, or a text that any tag contains. Quotes keep spaces together.
struct FilterText {
    private var rest: Substring

    /// Operators; an operator comes before its own prefixes.
    private static let operators = ["!=", "!~", ">=", "<=", "=", "~", ">", "<"]
    private static let quotes: Set<Character> = ["\"", "'"]

    /// The filter of a text in the protocol's form.
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

    /// Skips spaces; false: the end.
    private mutating func skipSpaces() -> Bool {
        rest = rest.drop(while: \.isWhitespace)
        return !rest.isEmpty
    }

    /// Takes a whole word, without regard to case; false: another word follows.
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
        // Spaces may follow an operator if spaces precede it.
        if near.startIndex != behind.startIndex { _ = skipSpaces() }
        return try FilterTerm(field: String(name), found, try value()).json
    }

    /// Takes a text in quotes, or up to the next space.
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

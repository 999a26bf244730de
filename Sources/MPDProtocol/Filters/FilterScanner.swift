/// Steps through the text of a filter's expression.
struct FilterScanner {
    private let bytes: [UInt8]
    private var index = 0

    /// A scanner at the beginning of an expression.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// True if nothing follows.
    var isAtEnd: Bool { index == bytes.count }

    /// True if this text follows.
    func isNext(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { wanted in
            index + wanted.count <= bytes.count && bytes[index..<index + wanted.count].elementsEqual(wanted)
        }
    }

    /// Takes this text and the white space after it; false: it does not follow.
    mutating func take(_ text: StaticString) -> Bool {
        guard isNext(text) else { return false }
        index += text.utf8CodeUnitCount
        skipSpace()
        return true
    }

    /// Takes this text. Throws MPD's message.
    mutating func expect(_ text: StaticString) throws(MPDFailure) {
        guard take(text) else { throw MPDFailure(.argument, "'\(text)' expected") }
    }

    /// Takes a word of letters, `_` and `-`, and the white space after it. Throws MPD's message.
    mutating func word() throws(MPDFailure) -> String {
        let rest = bytes[index...]
        let word = rest.prefix { ASCII.isLetter($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
        guard !word.isEmpty else { throw MPDFailure(.argument, "Word expected") }
        index += word.count
        skipSpace()
        return String(decoding: word, as: UTF8.self)
    }

    /// Takes the digits of a number and the white space after it.
    mutating func number() -> String {
        let digits = bytes[index...].prefix(while: ASCII.isDigit)
        index += digits.count
        skipSpace()
        return String(decoding: digits, as: UTF8.self)
    }

    /// Takes a value in single or double quotes, where a backslash escapes the next byte. Throws MPD's message.
    mutating func quoted() throws(MPDFailure) -> [UInt8] {
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") || bytes[index] == UInt8(ascii: "'") else {
            throw MPDFailure(.argument, "Quoted string expected")
        }
        let quote = bytes[index]
        index += 1
        var value: [UInt8] = []
        while true {
            if index < bytes.count, bytes[index] == quote { break }
            if index < bytes.count, bytes[index] == UInt8(ascii: "\\") { index += 1 }
            guard index < bytes.count else { throw MPDFailure(.argument, "Closing quote not found") }
            value.append(bytes[index])
            index += 1
            guard value.count < FilterParser.maximumValue else {
                throw MPDFailure(.argument, "Quoted value is too long")
            }
        }
        index += 1
        skipSpace()
        return value
    }

    /// Takes a value in quotes as text.
    mutating func quotedText() throws(MPDFailure) -> String { String(decoding: try quoted(), as: UTF8.self) }

    /// Takes the relation of a format: false for `==`, true for `=~`, with which `*` matches any value.
    mutating func formatRelation() throws(MPDFailure) -> Bool {
        if take("==") { return false }
        guard take("=~") else { throw MPDFailure(.argument, "'==' or '=~' expected") }
        return true
    }

    /// Takes an operator and its value. `foldsCase`: default for operators without a suffix for case.
    mutating func textTest(foldsCase: Bool) throws(MPDFailure) -> TextTest {
        let isNegated: Bool
        let relation: TextTest.Relation
        var foldsCase = foldsCase
        if take("==") {
            (relation, isNegated) = (.equals, false)
        } else if take("!=") {
            (relation, isNegated) = (.equals, true)
        } else if take("=~") {
            (relation, isNegated) = (.matches, false)
        } else if take("!~") {
            (relation, isNegated) = (.matches, true)
        } else {
            let begin = index
            isNegated = take("!")
            guard let named = namedRelation() else {
                index = begin
                throw MPDFailure(.argument, "'==' or '!=' expected")
            }
            relation = named.relation
            foldsCase = named.foldsCase ?? foldsCase
        }
        return TextTest(relation, try quotedText(), foldsCase: foldsCase, isNegated: isNegated)
    }

    private static let relations: [(String, TextTest.Relation)] = [
        ("eq", .equals), ("contains", .contains), ("starts_with", .startsWith),
    ]

    /// `contains`, `starts_with` or `eq`, with `_cs` or `_ci` for the case of letters. `eq` needs a suffix.
    private mutating func namedRelation() -> (relation: TextTest.Relation, foldsCase: Bool?)? {
        guard let word = try? word().lowercased() else { return nil }
        for (name, relation) in Self.relations {
            if word == name, relation != .equals { return (relation, nil) }
            if word == name + "_cs" { return (relation, false) }
            if word == name + "_ci" { return (relation, true) }
        }
        return nil
    }

    private mutating func skipSpace() {
        while index < bytes.count, ASCII.isSpace(bytes[index]) { index += 1 }
    }
}

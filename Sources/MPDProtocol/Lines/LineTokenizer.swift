/// Splits a request line into a command word and arguments by MPD's rules. An argument is a word without quotes, or a text
/// in double quotes in which a backslash escapes the next byte.
struct LineTokenizer {
    private let line: [UInt8]
    private var index = 0

    /// A tokenizer at the start of a line without its line end.
    init(_ line: [UInt8]) { self.line = line }

    /// The command word; nil: the line is empty. Throws MPD's message for a word that cannot be a command.
    mutating func word() throws(MPDFailure) -> [UInt8]? {
        guard let first = line.first else { return nil }
        guard ASCII.isLetter(first) else { throw MPDFailure(.unknown, "Letter expected") }
        let end = line.firstIndex(where: ASCII.isSpace) ?? line.count
        guard line[..<end].allSatisfy({ ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "_") }) else {
            throw MPDFailure(.unknown, "Invalid word character")
        }
        index = end
        skipSpace()
        return Array(line[..<end])
    }

    /// The next argument; nil: none follows. Throws MPD's message for wrong quotes.
    mutating func argument() throws(MPDFailure) -> Argument? {
        guard index < line.count else { return nil }
        return Argument(line[index] == Self.quote ? try quoted() : try unquoted())
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    private mutating func unquoted() throws(MPDFailure) -> [UInt8] {
        let end = line[index...].firstIndex(where: ASCII.isSpace) ?? line.count
        let word = line[index..<end]
        guard !word.isEmpty, !word.contains(Self.quote), !word.contains(UInt8(ascii: "'")) else {
            throw MPDFailure(.unknown, "Invalid unquoted character")
        }
        index = end
        skipSpace()
        return Array(word)
    }

    private mutating func quoted() throws(MPDFailure) -> [UInt8] {
        index += 1
        var text: [UInt8] = []
        while true {
            if index < line.count, line[index] == Self.quote { break }
            if index < line.count, line[index] == Self.backslash { index += 1 }
            guard index < line.count else { throw MPDFailure(.unknown, "Missing closing '\"'") }
            text.append(line[index])
            index += 1
        }
        index += 1
        guard index == line.count || ASCII.isSpace(line[index]) else {
            throw MPDFailure(.unknown, "Space expected after closing '\"'")
        }
        skipSpace()
        return text
    }

    private mutating func skipSpace() {
        while index < line.count, ASCII.isSpace(line[index]) { index += 1 }
    }
}

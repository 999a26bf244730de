/// Parses a format string: text, and in double braces expressions of variables, numbers, texts, functions, `+ - * /`
/// and parentheses with the usual precedence.
struct TemplateParser {
    private let characters: [Character]
    private var index = 0
    private var depth = 0

    /// Maximum depth of nested expressions.
    private static let maximumDepth = 64

    /// A parser at the start of `format`.
    init(_ format: String) { characters = Array(format) }

    /// Parses the whole format string. Throws its first mistake.
    mutating func pieces() throws(Template.Mistake) -> [Template.Piece] {
        var result: [Template.Piece] = []
        var text = ""
        while index < characters.count {
            guard characters[index] == "{", index + 1 < characters.count, characters[index + 1] == "{" else {
                text.append(characters[index])
                index += 1
                continue
            }
            if !text.isEmpty { result.append(.text(text)) }
            text = ""
            index += 2
            result.append(.expression(try sum()))
            guard next() == "}", index + 1 < characters.count, characters[index + 1] == "}" else {
                throw mistake("expected \"}}\"")
            }
            index += 2
        }
        if !text.isEmpty { result.append(.text(text)) }
        return result
    }

    private mutating func sum() throws(Template.Mistake) -> TemplateExpression {
        depth += 1
        defer { depth -= 1 }
        guard depth <= TemplateParser.maximumDepth else { throw mistake("too deeply nested") }
        var result = try product()
        while let kind = next().flatMap(TemplateExpression.Operator.init), kind == .plus || kind == .minus {
            index += 1
            result = .binary(kind, result, try product())
        }
        return result
    }

    private mutating func product() throws(Template.Mistake) -> TemplateExpression {
        var result = try operand()
        while let kind = next().flatMap(TemplateExpression.Operator.init), kind == .times || kind == .divided {
            index += 1
            result = .binary(kind, result, try operand())
        }
        return result
    }

    private mutating func operand() throws(Template.Mistake) -> TemplateExpression {
        var isNegated = false
        while let sign = next(), sign == "+" || sign == "-" {
            if sign == "-" { isNegated.toggle() }
            index += 1
        }
        let result = try primary()
        return isNegated ? .negated(result) : result
    }

    private mutating func primary() throws(Template.Mistake) -> TemplateExpression {
        guard let character = next() else { throw mistake("unexpected end, expected \"}}\"") }
        switch character {
        case "(":
            index += 1
            let result = try sum()
            try expect(")")
            return result
        case "\"":
            return .constant(.text(try quoted()))
        case _ where isDigit(character) || character == ".":
            return .constant(.number(try number()))
        case _ where isNameStart(character):
            return try named()
        default:
            throw mistake("unexpected \"\(TerminalText.safe(String(character)))\"")
        }
    }

    private mutating func named() throws(Template.Mistake) -> TemplateExpression {
        let start = index
        while index < characters.count, isNamePart(characters[index]) { index += 1 }
        let name = String(characters[start..<index])
        guard next() == "(" else { return .variable(name) }
        guard let function = TemplateFunction(rawValue: name) else {
            index = start
            let known = TemplateFunction.allCases.map(\.rawValue).sorted().joined(separator: " ")
            throw mistake("unknown function \"\(name)\" (there are: \(known))")
        }
        index += 1
        var arguments: [TemplateExpression] = []
        if next() != ")" {
            arguments.append(try sum())
            while next() == "," {
                index += 1
                arguments.append(try sum())
            }
        }
        try expect(")")
        guard arguments.count == function.arity else {
            throw mistake("\(name) takes \(function.arity) argument\(function.arity == 1 ? "" : "s")")
        }
        if function == .emoji {
            guard case .variable = arguments[0] else { throw mistake("emoji needs a variable") }
        }
        return .call(function, arguments)
    }

    private mutating func quoted() throws(Template.Mistake) -> String {
        index += 1
        guard let end = characters[index...].firstIndex(of: "\"") else {
            throw mistake("a text without its closing quote")
        }
        defer { index = end + 1 }
        return String(characters[index..<end])
    }

    private mutating func number() throws(Template.Mistake) -> Double {
        let start = index
        while index < characters.count, isDigit(characters[index]) || characters[index] == "." { index += 1 }
        guard let result = ClockText.decimal(String(characters[start..<index])) else { throw mistake("not a number") }
        return result
    }

    private mutating func expect(_ character: Character) throws(Template.Mistake) {
        guard next() == character else { throw mistake("expected \"\(character)\"") }
        index += 1
    }

    /// The next character that is not a space, without taking it.
    private mutating func next() -> Character? {
        while index < characters.count, characters[index] == " " { index += 1 }
        return index < characters.count ? characters[index] : nil
    }

    private func mistake(_ message: String) -> Template.Mistake {
        Template.Mistake(message: "format: \(message), at character \(min(index, characters.count) + 1)")
    }

    private func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }

    private func isNameStart(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character == "_")
    }

    private func isNamePart(_ character: Character) -> Bool {
        isNameStart(character) || isDigit(character) || character == ":" || character == "."
    }
}

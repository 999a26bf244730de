/// A format string with playerctl's braces: `{{status}} {{uc(artist)}} - {{duration(position)}}`. Parsed once, expanded
/// for every state. Text outside the braces is printed unchanged; unknown variables expand to an empty text.
package struct Template: Sendable {
    /// A mistake in a format string.
    package struct Mistake: Error, Equatable, Sendable {
        /// Text about the mistake and its position.
        package var message: String
    }

    /// A part of the format string.
    enum Piece: Sendable {
        case text(String)
        case expression(TemplateExpression)
    }

    /// The parts in their order.
    let pieces: [Piece]

    /// Parses a format string. Throws its first mistake.
    package init(_ format: String) throws(Mistake) {
        var parser = TemplateParser(format)
        pieces = try parser.pieces()
    }

    /// The text for one state; `lookUp` returns the variables' values.
    package func expand(_ lookUp: (String) -> TemplateValue) -> String {
        var result = ""
        for piece in pieces {
            switch piece {
            case .text(let text): result += text
            case .expression(let expression): result += expression.value(lookUp).printed
            }
        }
        return result
    }

    /// Names of all its variables.
    package var variables: Set<String> {
        pieces.reduce(into: []) { names, piece in
            if case .expression(let expression) = piece { names.formUnion(expression.variables) }
        }
    }

    /// True if it contains this variable, so that the text changes with it.
    package func mentions(_ variable: String) -> Bool {
        pieces.contains { piece in
            if case .expression(let expression) = piece { return expression.mentions(variable) }
            return false
        }
    }
}

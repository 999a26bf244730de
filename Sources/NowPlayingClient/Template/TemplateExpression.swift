import NowPlaying

/// Expression between two pairs of braces.
indirect enum TemplateExpression: Sendable {
    case constant(TemplateValue)
    case variable(String)
    /// A function and its arguments, as many as its arity.
    case call(TemplateFunction, [TemplateExpression])
    case negated(TemplateExpression)
    /// An operator with its left and its right operand.
    case binary(Operator, TemplateExpression, TemplateExpression)

    /// Operator between two operands.
    enum Operator: Character, Sendable {
        case plus = "+"
        case minus = "-"
        case times = "*"
        case divided = "/"
    }

    /// Value of the expression; `lookUp` returns the variables' values.
    func value(_ lookUp: (String) -> TemplateValue) -> TemplateValue {
        switch self {
        case .constant(let value): return value
        case .variable(let name): return lookUp(name)
        case .call(let function, let arguments):
            return function.apply(arguments.map { $0.value(lookUp) }, to: arguments)
        case .negated(let operand):
            let value = operand.value(lookUp)
            guard let number = value.numeric else { return .nothing }
            return value.isSeconds ? .seconds(-number) : .number(-number)
        case .binary(let kind, let left, let right):
            return kind.apply(left.value(lookUp), right.value(lookUp))
        }
    }

    /// Names of all its variables.
    var variables: Set<String> {
        switch self {
        case .constant: []
        case .variable(let name): [name]
        case .call(_, let arguments): arguments.reduce(into: []) { $0.formUnion($1.variables) }
        case .negated(let operand): operand.variables
        case .binary(_, let left, let right): left.variables.union(right.variables)
        }
    }

    /// True if it contains this variable.
    func mentions(_ name: String) -> Bool {
        switch self {
        case .constant: false
        case .variable(let own): own == name
        case .call(_, let arguments): arguments.contains { $0.mentions(name) }
        case .negated(let operand): operand.mentions(name)
        case .binary(_, let left, let right): left.mentions(name) || right.mentions(name)
        }
    }
}

extension TemplateExpression.Operator {
    /// The result; `nothing` if an operand is not a number or the divisor is 0. Sums and differences of two times in
    /// seconds are times in seconds.
    func apply(_ left: TemplateValue, _ right: TemplateValue) -> TemplateValue {
        guard let a = left.numeric, let b = right.numeric else { return .nothing }
        let areTimes = left.isSeconds && right.isSeconds
        switch self {
        case .plus: return areTimes ? .seconds(a + b) : .number(a + b)
        case .minus: return areTimes ? .seconds(a - b) : .number(a - b)
        case .times: return .number(a * b)
        case .divided: return b == 0 ? .nothing : .number(a / b)
        }
    }
}

/// The functions of a template, by playerctl's names.
enum TemplateFunction: String, Sendable, CaseIterable {
    case lc, uc, duration, emoji, trunc
    case markupEscape = "markup_escape"
    case `default` = "default"

    /// Number of its arguments.
    var arity: Int {
        switch self {
        case .lc, .uc, .duration, .emoji, .markupEscape: 1
        case .trunc, .default: 2
        }
    }

    /// The result for `values`, which are those of the expressions `arguments`.
    func apply(_ values: [TemplateValue], to arguments: [TemplateExpression]) -> TemplateValue {
        let first = values[0]
        if self == .default { return first.printed.isEmpty ? values[1] : first }
        if case .nothing = first { return .nothing }
        switch self {
        case .lc: return .text(first.printed.lowercased())
        case .uc: return .text(first.printed.uppercased())
        case .duration: return first.time.map { .text(ClockText.clock($0)) } ?? .nothing
        case .markupEscape: return .text(TemplateFunction.escaped(first.printed))
        case .trunc: return .text(TemplateFunction.truncated(first.printed, to: values[1].numeric))
        case .emoji:
            guard case .variable(let name) = arguments[0] else { return first }
            return .text(TemplateFunction.emoji(name, first) ?? first.printed)
        case .default: return first
        }
    }

    private static func emoji(_ variable: String, _ value: TemplateValue) -> String? {
        switch (variable, value) {
        case ("status", .text("Playing")): return "▶️"
        case ("status", .text("Paused")): return "⏸️"
        case ("status", .text("Stopped")): return "⏹️"
        case ("volume", .number(let volume)): return volume < 1 / 3.0 ? "🔈" : volume < 2 / 3.0 ? "🔉" : "🔊"
        default: return nil
        }
    }

    private static func truncated(_ text: String, to length: Double?) -> String {
        guard let length, length >= 0, Double(text.count) > length else { return text }
        return text.prefix(Int(clamping: length)) + "…"
    }

    /// Escapes the markup characters of XML and Pango.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "'": result += "&#39;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}

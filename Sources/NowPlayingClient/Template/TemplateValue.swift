/// Value of a variable or an expression of a template.
package enum TemplateValue: Equatable, Sendable {
    /// An unknown value; prints as an empty text.
    case nothing
    /// Text, already safe for a terminal.
    case text(String)
    /// A number; as a time it is in microseconds, as in playerctl.
    case number(Double)
    /// A time in seconds, as in the protocol.
    case seconds(Double)

    /// Printed form.
    package var printed: String {
        switch self {
        case .nothing: ""
        case .text(let text): text
        case .number(let value), .seconds(let value): ClockText.number(value)
        }
    }

    /// Its number; nil: it has none.
    var numeric: Double? {
        switch self {
        case .nothing: nil
        case .number(let value), .seconds(let value): value
        case .text(let text):
            text.hasPrefix("-") ? ClockText.decimal(text.dropFirst()).map { -$0 } : ClockText.decimal(text)
        }
    }

    /// Its time in seconds; nil: it has none.
    var time: Double? {
        if case .seconds(let value) = self { return value }
        return numeric.map { $0 / 1_000_000 }
    }

    /// True for a time in seconds.
    var isSeconds: Bool {
        if case .seconds = self { return true }
        return false
    }
}

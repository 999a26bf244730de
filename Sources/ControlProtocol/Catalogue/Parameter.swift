import NowPlaying

/// One named parameter of a method, or one field of an item.
package struct Parameter: Sendable {
    package var name: String
    package var type: ParameterType
    package var isOptional: Bool
    /// Meaning: a phrase without a full stop.
    package var help: String

    /// A required parameter.
    package static func required(_ name: String, _ type: ParameterType, _ help: String) -> Parameter {
        Parameter(name: name, type: type, isOptional: false, help: help)
    }

    /// An optional parameter.
    package static func optional(_ name: String, _ type: ParameterType, _ help: String) -> Parameter {
        Parameter(name: name, type: type, isOptional: true, help: help)
    }
}

/// Valid values of a parameter, independent of the player's state.
package indirect enum ParameterType: Sendable {
    case boolean
    /// A number of more than 0 and at most this.
    case positiveNumber(upTo: Double)
    /// A number in this range.
    case numberIn(ClosedRange<Double>)
    /// A whole number in this range.
    case integer(ClosedRange<Int64>)
    /// Text of at most `ParameterType.maximumTextBytes`.
    case text
    /// One of these words.
    case choice([String])
    /// An absolute path or a uri.
    case uri
    /// A uri, or an object with `uri` or `descriptor` and fields of an item.
    case media
    /// An object with these members.
    case object([Parameter])
    /// A value of this type, or null, which removes it.
    case removable(ParameterType)
    /// Elements of one type.
    case array(ParameterType, count: ClosedRange<Int>)
    /// A text, or an array of texts.
    case textOrTexts(count: ClosedRange<Int>)
    /// A condition on tracks: an object that the library judges.
    case filter
    /// A cursor from a server, of at most `ParameterType.maximumCursorBytes`.
    case cursor

    /// A position or duration in seconds, at most the maximum duration of an item.
    package static let seconds = numberIn(0...TimeLimit.seconds)
    /// A duration of more than 0 seconds.
    package static let someSeconds = positiveNumber(upTo: TimeLimit.seconds)
    /// An id or a count, which every JSON reader represents exactly.
    package static let ordinal = integer(0...largestWhole)
    /// The id of an item.
    package static let itemID = integer(1...largestWhole)
    /// The largest valid whole number: 2⁵³ − 1, the last one that a double distinguishes from its neighbours.
    package static let largestWhole: Int64 = (1 << 53) - 1

    /// Maximum bytes of UTF-8 in a text field.
    package static let maximumTextBytes = 4096
    /// Maximum bytes of a uri: a path of 4,095 bytes, each of them written as `%xx`.
    package static let maximumURIBytes = 3 * 4096

    /// Maximum bytes of a cursor.
    package static let maximumCursorBytes = 65_536

    /// Valid values: a phrase that follows "must be".
    package var words: String {
        switch self {
        case .boolean: "true or false"
        case .positiveNumber(let limit): "a number above 0, at most \(Self.text(limit))"
        case .numberIn(let range):
            "a number from \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))"
        case .integer(let range):
            "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .text: "text of at most \(Self.maximumTextBytes) bytes"
        case .choice(let words): "one of " + words.joined(separator: ", ")
        case .uri: "an absolute path or a uri"
        case .media: "a uri, or an object with “uri” or “descriptor”"
        case .object(let members): "an object with " + members.map(\.name).prefix(3).joined(separator: ", ") + "…"
        case .removable(let type): type.words + ", or null to remove it"
        case .array(let element, let count):
            (count.lowerBound > 0 ? "an array that is not empty, each element " : "an array, each element ")
                + element.words
        case .textOrTexts(let count): "text, or an array of \(count.lowerBound) to \(count.upperBound) texts"
        case .filter: "a filter: an object with one member"
        case .cursor: "text that an answer gave as “next”"
        }
    }

    /// The type in one word, for tables.
    package var typeName: String {
        switch self {
        case .boolean: "boolean"
        case .positiveNumber, .numberIn: "number"
        case .integer: "integer"
        case .text, .choice, .cursor: "string"
        case .textOrTexts: "string or array of string"
        case .uri: "uri"
        case .media: "media"
        case .object, .filter: "object"
        case .removable(let type): type.typeName
        case .array(let element, _): "array of \(element.typeName)"
        }
    }

    private static func text(_ number: Double) -> String { JSONWriter.text(.number(number)) }
}

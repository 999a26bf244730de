/// A JSON text (RFC 8259) as a value. Integers that fit 64 bits are kept exact.
package enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent that fits 64 bits.
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// The value of this member; nil: this is not an object, or lacks the member.
    package subscript(name: String) -> JSONValue? { objectValue?[name] }

    /// The text; nil: this is not a string.
    package var stringValue: String? { if case .string(let value) = self { value } else { nil } }

    /// The truth value; nil: this is not a boolean.
    package var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The number; nil: this is not a number.
    package var doubleValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The whole number; nil: this is not one. JSON does not distinguish `3` and `3.0`.
    package var integerValue: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The elements; nil: this is not an array.
    package var arrayValue: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

    /// The members; nil: this is not an object.
    package var objectValue: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// The kind of the value for messages: `a string`.
    package var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// The members of a JSON object in the order of the text. If members have the same name, the last one counts.
package struct JSONObject: Equatable, Sendable {
    /// One name and its value.
    package struct Member: Equatable, Sendable {
        package var name: String
        package var value: JSONValue

        /// A member, by its parts.
        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// No two of them have the same name.
    package private(set) var members: [Member]

    /// An object without members.
    package init() { members = [] }

    /// An object of these members. If members have the same name, it keeps the last one.
    package init(_ members: [Member]) {
        self.members = members
        if members.count > Self.mostCompared {
            // A client may send very many names: a comparison of all pairs would delay other clients.
            var last: [String: Int] = [:]
            for (index, member) in members.enumerated() { last[member.name] = index }
            guard last.count < members.count else { return }
            self.members = members.enumerated().filter { last[$0.element.name] == $0.offset }.map(\.element)
        } else {
            for index in members.indices.reversed() where Self.isRepeated(index, in: members) {
                self.members.remove(at: index)
            }
        }
    }

    /// Number of members up to which a comparison of all names takes less time than hashing them.
    private static let mostCompared = 32

    /// True if a later member has the name of this member.
    private static func isRepeated(_ index: Int, in members: [Member]) -> Bool {
        members.withUnsafeBufferPointer { members in
            var other = index + 1
            while other < members.count {
                if members[other].name == members[index].name { return true }
                other += 1
            }
            return false
        }
    }

    /// The value of the member with this name. Setting nil removes it.
    package subscript(name: String) -> JSONValue? {
        get {
            for member in members where member.name == name { return member.value }
            return nil
        }
        set {
            let slot = members.firstIndex { $0.name == name }
            switch (slot, newValue) {
            case (let slot?, let value?): members[slot].value = value
            case (let slot?, nil): members.remove(at: slot)
            case (nil, let value?): members.append(Member(name, value))
            case (nil, nil): break
            }
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(nilLiteral: ()) { self = .null }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements.map { JSONObject.Member($0.0, $0.1) }))
    }
}

import ControlProtocol

/// Makes numbers out of the bytes of an input: edges of their types by one byte, or any value by eight.
struct FuzzNumbers {
    /// Edges of the numbers that the wire can carry.
    static let edges: [Double] = [
        0, -0.0, 1, -1, 0.5, 2, 3600, 44_100, 1e7, 1e7 + 1, 1e12, 1e15, 0x1p31, 0x1p32, 0x1p53, -0x1p53, 0x1p63,
        -0x1p63, 1e300, -1e300, 1e-300, -1e-300, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
    ]
    private static let wholeEdges: [Int64] = [
        0, 1, -1, 2, 255, 65_535, 44_100, 192_000, 1 << 31, 1 << 32, 1 << 53, -(1 << 53), .max, .min, .max - 1,
    ]

    private var rest: ArraySlice<UInt8>

    /// Takes the bytes in their order.
    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// True if no byte is left: from there on all numbers are 0.
    var isAtEnd: Bool { rest.isEmpty }

    /// The next byte; 0: there is none.
    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// A number below `count`, of at most 256.
    mutating func choice(_ count: Int) -> Int { Int(byte()) % max(1, count) }

    /// Any whole number.
    mutating func whole() -> Int64 {
        let first = byte()
        return first < 192 ? Self.wholeEdges[Int(first) % Self.wholeEdges.count] : Int64(bitPattern: bits())
    }

    /// Any finite number.
    mutating func number() -> Double {
        let first = byte()
        if first < 192 { return Self.edges[Int(first) % Self.edges.count] }
        let value = Double(bitPattern: bits())
        return value.isFinite ? value : 0
    }

    private mutating func bits() -> UInt64 { (0..<8).reduce(0) { bits, _ in bits << 8 | UInt64(byte()) } }

    /// A value that this type of parameter takes, or nearly: the catalogue judges it.
    mutating func value(_ type: ParameterType) -> JSONValue {
        switch type {
        case .boolean: return .bool(choice(2) == 1)
        case .positiveNumber(let limit): return .number([limit, number(), number()][choice(3)])
        case .numberIn(let range):
            return .number([range.lowerBound, range.upperBound, number(), number()][choice(4)])
        case .integer(let range):
            return .integer([range.lowerBound, range.upperBound, whole(), Int64(choice(4))][choice(4)])
        case .text, .textOrTexts, .cursor: return .string(["", "text", String(repeating: "ä", count: 2048)][choice(3)])
        case .filter: return ["title": ["is": "text"]]
        case .choice(let words): return .string(words[choice(words.count)])
        case .uri, .media: return "/fuzz/1"
        case .removable(let type): return choice(4) == 0 ? .null : value(type)
        case .object(let members):
            return .object(object(members))
        case .array(let element, let count):
            let wanted = max(count.lowerBound, min(count.upperBound, choice(4)))
            return .array((0..<wanted).map { _ in value(element) })
        }
    }

    /// An object with some of these members.
    mutating func object(_ members: [Parameter]) -> JSONObject {
        var object = JSONObject()
        for member in members where !member.isOptional || choice(3) > 0 { object[member.name] = value(member.type) }
        return object
    }
}

/// The fault of a text that is not valid JSON; `offset` counts bytes from the start of the text.
package enum JSONError: Error, Equatable, Sendable {
    case syntax(offset: Int)
    /// Bytes that are not UTF-8, or half of a surrogate pair.
    case encoding(offset: Int)
    /// More than `JSONReader.maximumDepth` nested arrays and objects.
    case tooDeep(offset: Int)
    /// A number beyond the range of a double.
    case notFinite

    /// In words for people.
    package var message: String {
        switch self {
        case .syntax(let offset): "not JSON at byte \(offset)"
        case .encoding(let offset): "not UTF-8 in the string at byte \(offset)"
        case .tooDeep(let offset): "more than \(JSONReader.maximumDepth) levels deep at byte \(offset)"
        case .notFinite: "a number is out of range"
        }
    }
}

/// Reads JSON strictly by RFC 8259. It holds an offset in borrowed bytes, so it must not outlive them.
package struct JSONReader {
    /// Maximum nesting of arrays and objects.
    package static let maximumDepth = 32

    let bytes: UnsafeRawBufferPointer
    /// Offset of the next byte.
    package private(set) var offset: Int
    /// True after a number beyond the range of a double, which reads as infinity, since the last `forgetNotFinite`.
    package private(set) var sawNotFinite = false
    private var depth = 0

    /// A reader at the start of `bytes`.
    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        offset = 0
    }

    /// Drops the note of a number beyond the range, to find one in the next value.
    package mutating func forgetNotFinite() { sawNotFinite = false }

    /// The one value that `bytes` hold.
    package static func read(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSONValue {
        var reader = JSONReader(bytes)
        let value = try reader.value()
        try reader.end()
        if reader.sawNotFinite { throw .notFinite }
        return value
    }

    /// The one value that `text` holds.
    package static func read(_ text: String) throws(JSONError) -> JSONValue { try read(Array(text.utf8)) }

    /// The one value that `bytes` hold.
    package static func read(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
        let result: Result<JSONValue, JSONError> = bytes.withUnsafeBytes { bytes in
            do throws(JSONError) { return .success(try read(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// The next byte that is not white space, without taking it; nil at the end.
    package mutating func peek() -> UInt8? {
        while offset < bytes.count {
            let byte = bytes[offset]
            guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { return byte }
            offset += 1
        }
        return nil
    }

    /// Checks that only white space follows.
    package mutating func end() throws(JSONError) { if peek() != nil { throw .syntax(offset: offset) } }

    /// Takes white space and one value. Recursion is bounded by `maximumDepth`.
    package mutating func value() throws(JSONError) -> JSONValue {
        switch peek() {
        case UInt8(ascii: "\"")?: return .string(try string())
        case UInt8(ascii: "{")?:
            var members: [JSONObject.Member] = []
            try object { (reader, name) throws(JSONError) in
                members.append(JSONObject.Member(name, try reader.value()))
            }
            return .object(JSONObject(members))
        case UInt8(ascii: "[")?:
            var elements: [JSONValue] = []
            try array { (reader) throws(JSONError) in elements.append(try reader.value()) }
            return .array(elements)
        case UInt8(ascii: "t")?: return try word("true", .bool(true))
        case UInt8(ascii: "f")?: return try word("false", .bool(false))
        case UInt8(ascii: "n")?: return try word("null", .null)
        default: return try number()
        }
    }

    /// Takes an object; `member` is called after each name and its colon, and must take the value.
    package mutating func object(
        _ member: (inout JSONReader, String) throws(JSONError) -> Void
    ) throws(JSONError) {
        try list(from: UInt8(ascii: "{"), to: UInt8(ascii: "}")) { (reader) throws(JSONError) in
            guard reader.peek() == UInt8(ascii: "\"") else { throw .syntax(offset: reader.offset) }
            let name = try reader.string()
            guard reader.peek() == UInt8(ascii: ":") else { throw .syntax(offset: reader.offset) }
            reader.offset += 1
            try member(&reader, name)
        }
    }

    /// Takes an array; `element` is called before each element, and must take it.
    package mutating func array(_ element: (inout JSONReader) throws(JSONError) -> Void) throws(JSONError) {
        try list(from: UInt8(ascii: "["), to: UInt8(ascii: "]"), element)
    }

    private mutating func list(
        from first: UInt8, to last: UInt8, _ element: (inout JSONReader) throws(JSONError) -> Void
    ) throws(JSONError) {
        guard peek() == first else { throw .syntax(offset: offset) }
        guard depth < Self.maximumDepth else { throw .tooDeep(offset: offset) }
        depth += 1
        offset += 1
        if peek() != last {
            try element(&self)
            while peek() == UInt8(ascii: ",") {
                offset += 1
                try element(&self)
            }
            guard peek() == last else { throw .syntax(offset: offset) }
        }
        offset += 1
        depth -= 1
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        guard bytes.count - offset >= word.utf8CodeUnitCount else { throw .syntax(offset: offset) }
        for index in 0..<word.utf8CodeUnitCount where bytes[offset + index] != word.utf8Start[index] {
            throw .syntax(offset: offset)
        }
        offset += word.utf8CodeUnitCount
        return value
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = offset
        var mantissa: UInt64 = 0
        var isExact = true
        var exponent = 0
        func byte(_ offset: Int) -> UInt8 { offset < bytes.count ? bytes[offset] : 0 }
        func digit(_ offset: Int) -> UInt64? {
            let value = byte(offset) &- UInt8(ascii: "0")
            return value < 10 ? UInt64(value) : nil
        }
        func add(_ digit: UInt64) {
            if mantissa < 900_000_000_000_000_000 { mantissa = mantissa * 10 + digit } else { isExact = false }
        }
        let isNegative = byte(offset) == UInt8(ascii: "-")
        if isNegative { offset += 1 }
        guard let first = digit(offset) else { throw .syntax(offset: offset) }
        add(first)
        offset += 1
        while let next = digit(offset) {
            guard first != 0 else { throw .syntax(offset: offset) }
            add(next)
            offset += 1
        }
        var isInteger = true
        if byte(offset) == UInt8(ascii: ".") {
            isInteger = false
            offset += 1
            guard digit(offset) != nil else { throw .syntax(offset: offset) }
            while let next = digit(offset) {
                add(next)
                exponent -= 1
                offset += 1
            }
        }
        if byte(offset) | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            isExact = false
            offset += 1
            if byte(offset) == UInt8(ascii: "+") || byte(offset) == UInt8(ascii: "-") { offset += 1 }
            guard digit(offset) != nil else { throw .syntax(offset: offset) }
            while digit(offset) != nil { offset += 1 }
        }
        if isInteger, isExact, !(isNegative && mantissa == 0) {
            return .integer(isNegative ? -Int64(mantissa) : Int64(mantissa))
        }
        // If doubles hold the mantissa and the power of ten exactly, their quotient is correctly rounded (Clinger 1990).
        if isExact, mantissa < 1 << 53, exponent >= -22 {
            let value = Double(mantissa) / Self.powersOfTen[-exponent]
            return .number(isNegative ? -value : value)
        }
        let text = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<offset]), as: UTF8.self)
        if isInteger, let value = Int64(text) { return .integer(value) }
        let value = Double(text) ?? .infinity
        if !value.isFinite { sawNotFinite = true }
        return .number(value)
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
}

extension JSONReader {
    /// Takes a string; the next byte must be its quote.
    private mutating func string() throws(JSONError) -> String {
        offset += 1
        let start = offset
        var union = plainGroups()
        while offset < bytes.count {
            let byte = bytes[offset]
            if byte == UInt8(ascii: "\"") {
                let part = UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
                let text = union & Self.highBits == 0 ? Self.text(ascii: part) : try Self.text(part, at: start)
                offset += 1
                return text
            }
            if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
            guard byte >= 0x20 else { throw .syntax(offset: offset) }
            union |= UInt64(byte)
            offset += 1
        }
        throw .syntax(offset: offset)
    }

    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// Takes bytes of a string, eight at a time, up to a quote, a backslash, a control character or the last seven bytes of the
    /// text. Returns all bits of the taken bytes, as eight lanes.
    private mutating func plainGroups() -> UInt64 {
        guard let text = bytes.baseAddress else { return 0 }
        let ones: UInt64 = 0x0101_0101_0101_0101
        var union: UInt64 = 0
        var place = offset
        defer { offset = place }
        while bytes.count - place >= 8 {
            let group = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            let quotes = group ^ ones &* 0x22
            let backslashes = group ^ ones &* 0x5c
            // The difference has the high bit of a lane if the lane was below the subtrahend. A borrow comes from such a
            // lane alone, so that the first marked lane is right.
            let marks =
                ((quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes | (group &- ones &* 0x20) & ~group)
                & Self.highBits
            if marks == 0 {
                union |= group
                place &+= 8
                continue
            }
            let plain = marks.trailingZeroBitCount / 8
            place += plain
            return union | group & (1 << UInt64(8 * plain) - 1)
        }
        return union
    }

    /// A string of bytes below 0x80. It takes a sixth of the time of `String(validating:as:)`, which is not specialised.
    private static func text(ascii bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: bytes.count) { target in
            UnsafeMutableRawBufferPointer(target).copyMemory(from: bytes)
            return bytes.count
        }
    }

    private static func text(_ bytes: UnsafeRawBufferPointer, at start: Int) throws(JSONError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .encoding(offset: start) }
        return text
    }

    /// Takes the rest of a string that began at `start`, from its first backslash on.
    private mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var text = [UInt8](bytes[start..<offset])
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if byte == UInt8(ascii: "\"") {
                let result: Result<String, JSONError> = text.withUnsafeBytes { bytes in
                    do throws(JSONError) { return .success(try Self.text(bytes, at: start)) } catch {
                        return .failure(error)
                    }
                }
                return try result.get()
            }
            guard byte >= 0x20 else { throw .syntax(offset: offset - 1) }
            if byte == UInt8(ascii: "\\") {
                try escape(into: &text)
            } else {
                text.append(byte)
            }
        }
        throw .syntax(offset: offset)
    }

    /// Takes the characters after a backslash.
    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        guard offset < bytes.count else { throw .syntax(offset: offset) }
        let byte = bytes[offset]
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var unit = try hexadecimal()
            if unit & 0xfc00 == 0xd800 {
                guard bytes.count - offset >= 6, bytes[offset] == UInt8(ascii: "\\"),
                    bytes[offset + 1] == UInt8(ascii: "u")
                else { throw .encoding(offset: offset) }
                offset += 2
                let low = try hexadecimal()
                guard low & 0xfc00 == 0xdc00 else { throw .encoding(offset: offset) }
                unit = 0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff)
            }
            guard let scalar = Unicode.Scalar(unit) else { throw .encoding(offset: offset) }
            text.append(contentsOf: UTF8.encode(scalar)!)
        default: throw .syntax(offset: offset - 1)
        }
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard offset < bytes.count, let digit = Character(Unicode.Scalar(bytes[offset])).hexDigitValue,
                bytes[offset] < 0x80
            else { throw .syntax(offset: offset) }
            value = value << 4 | UInt32(digit)
            offset += 1
        }
        return value
    }
}

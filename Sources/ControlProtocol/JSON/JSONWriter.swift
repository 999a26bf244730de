package import NowPlaying

/// Appends JSON to its bytes, and sets the commas itself.
package struct JSONWriter {
    /// Text so far.
    package private(set) var bytes: [UInt8]

    /// A writer that appends to `bytes`.
    package init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    /// Makes room for this number of bytes in all.
    package mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    /// Removes the text after the first `count` bytes.
    package mutating func shorten(to count: Int) { bytes.removeLast(bytes.count - count) }

    /// These values alone, as text.
    package static func text(_ value: JSONValue) -> String {
        var writer = JSONWriter()
        writer.value(value)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// A comma, if an element or member precedes.
    private mutating func separate() {
        switch bytes.last {
        case UInt8(ascii: "{")?, UInt8(ascii: "[")?, UInt8(ascii: ":")?, UInt8(ascii: "\n")?, nil: break
        default: bytes.append(UInt8(ascii: ","))
        }
    }

    /// Begins an object, as a value.
    package mutating func beginObject() {
        separate()
        bytes.append(UInt8(ascii: "{"))
    }

    /// Ends the object.
    package mutating func endObject() { bytes.append(UInt8(ascii: "}")) }

    /// Begins an array, as a value.
    package mutating func beginArray() {
        separate()
        bytes.append(UInt8(ascii: "["))
    }

    /// Ends the array.
    package mutating func endArray() { bytes.append(UInt8(ascii: "]")) }

    /// The name of a member; its value must follow. The name needs no escaping.
    package mutating func key(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    /// The name of a member; its value must follow.
    package mutating func key(any name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
    }

    /// The end of a line.
    package mutating func newline() { bytes.append(UInt8(ascii: "\n")) }

    /// Bytes of JSON, as a value.
    package mutating func raw(_ json: some Collection<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
    }

    /// Any value.
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .integer(let value): integer(value)
        case .number(let value): decimalSeconds(value)
        case .string(let value): string(value)
        case .array(let elements):
            beginArray()
            for element in elements { self.value(element) }
            endArray()
        case .object(let object):
            beginObject()
            for member in object.members {
                key(any: member.name)
                self.value(member.value)
            }
            endObject()
        }
    }

    /// `null`.
    package mutating func null() { raw("null".utf8) }

    /// `true` or `false`.
    package mutating func bool(_ value: Bool) { raw((value ? "true" : "false").utf8) }

    /// An integer.
    package mutating func integer(_ value: Int64) {
        separate()
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        digits(value.magnitude)
    }

    /// Integers as the next elements of the array that was begun; `value` gives each by its index, below `count`. Much faster
    /// than a call of `integer` for each.
    package mutating func integers(_ count: Int, _ value: (Int) -> Int64) {
        if count > 0 { integer(value(0)) }
        var index = 1
        while index < count {
            let end = min(count, index + Self.integersAtOnce)
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: (end - index) * Self.longestInteger) { text in
                var length = 0
                while index < end {
                    let value = value(index)
                    text[length] = UInt8(ascii: ",")
                    length += 1
                    if value < 0 {
                        text[length] = UInt8(ascii: "-")
                        length += 1
                    }
                    length = Self.put(value.magnitude, into: text, at: length)
                    index += 1
                }
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[..<length]))
            }
        }
    }

    /// Integers that are written as one piece of text.
    private static let integersAtOnce = 256
    /// Bytes of the longest integer and its comma.
    private static let longestInteger = 21

    /// Writes the digits of a value from this index on; returns the index after them.
    private static func put(_ value: UInt64, into text: UnsafeMutableBufferPointer<UInt8>, at start: Int) -> Int {
        var end = start + 1
        var rest = value / 10
        while rest > 0 {
            end += 1
            rest /= 10
        }
        var place = end
        rest = value
        repeat {
            place -= 1
            text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while place > start
        return end
    }

    /// An integer.
    package mutating func integer(_ value: Int) { integer(Int64(value)) }

    private mutating func digits(_ value: UInt64) {
        if value < 10 { return bytes.append(UInt8(ascii: "0") + UInt8(value)) }
        // The digits are written from the last one on, into an array on the stack.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var start = digits.count
            var rest = value
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[start...]))
        }
    }

    /// A string. It escapes DEL and the C1 control characters too, since people read lines of the protocol on terminals.
    package mutating func string(_ text: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            var clean = 0
            for index in utf8.indices {
                let byte = utf8[index]
                guard byte < 0x20 || byte == 0x22 || byte == 0x5c || byte == 0x7f || byte == 0xc2 else { continue }
                if byte == 0xc2, utf8[index + 1] >= 0xa0 { continue }
                bytes.append(contentsOf: utf8[clean..<index])
                clean = index + (byte == 0xc2 ? 2 : 1)
                escape(byte == 0xc2 ? utf8[index + 1] : byte)
            }
            bytes.append(contentsOf: utf8[clean...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x22, 0x5c: bytes.append(byte)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0a: bytes.append(UInt8(ascii: "n"))
        case 0x0c: bytes.append(UInt8(ascii: "f"))
        case 0x0d: bytes.append(UInt8(ascii: "r"))
        default:
            bytes.append(contentsOf: "u00".utf8)
            for digit in [byte >> 4, byte & 15] {
                bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
    }

    /// A number with at most 9 decimals, as few as possible, and without an exponent; `null` if it is not finite.
    package mutating func decimalSeconds(_ value: Double) {
        guard value.isFinite else { return null() }
        separate()
        // Up to this limit, a double holds nanoseconds exactly.
        guard abs(value) < 9e6 else { return longNumber(value) }
        nanoseconds(MonotonicTime.nanoseconds(value))
    }

    /// An instant of the monotonic clock in seconds, exact.
    package mutating func seconds(_ time: MonotonicTime) {
        separate()
        nanoseconds(time.nanoseconds)
    }

    private mutating func nanoseconds(_ nanoseconds: Int64) {
        if nanoseconds < 0 { bytes.append(UInt8(ascii: "-")) }
        digits(nanoseconds.magnitude / 1_000_000_000)
        var fraction = nanoseconds.magnitude % 1_000_000_000
        guard fraction > 0 else { return }
        bytes.append(UInt8(ascii: "."))
        var digit: UInt64 = 100_000_000
        while fraction > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(fraction / digit))
            fraction %= digit
            digit /= 10
        }
    }

    /// The shortest digits that read back as this double (of at least 9,000,000), without an exponent.
    private mutating func longNumber(_ value: Double) {
        var text = value.description
        let isPlain = text.withUTF8 { utf8 in
            guard let point = utf8.firstIndex(of: UInt8(ascii: ".")), !utf8.contains(UInt8(ascii: "e")) else {
                return false
            }
            var end = min(utf8.count, point + 10)
            while utf8[end - 1] == UInt8(ascii: "0") { end -= 1 }
            bytes.append(contentsOf: utf8[..<(end - 1 == point ? point : end)])
            return true
        }
        if !isPlain { hugeNumber(text) }
    }

    /// The number of a text with an exponent, without that.
    private mutating func hugeNumber(_ text: String) {
        let parts = text.split(separator: "e")
        var digits = Array(parts[0].utf8)
        let point = digits.firstIndex(of: UInt8(ascii: ".")) ?? digits.count
        let decimals = Array(digits.dropFirst(point + 1))
        let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        digits = Array(digits[..<point])
        digits += decimals.prefix(exponent)
        digits += [UInt8](repeating: UInt8(ascii: "0"), count: max(0, exponent - decimals.count))
        var rest = Array(decimals.dropFirst(exponent).prefix(9))
        while rest.last == UInt8(ascii: "0") { rest.removeLast() }
        bytes += digits
        if !rest.isEmpty { bytes += [UInt8(ascii: ".")] + rest }
    }
}

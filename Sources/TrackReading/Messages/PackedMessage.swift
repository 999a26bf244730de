/// A violation of the format of answers, as text.
package struct TrackMessageError: Error, Equatable, Sendable {
    package let message: String

    /// An error with this text: a noun phrase.
    package init(_ message: String) { self.message = message }
}

/// Appends numbers and texts.
struct PackedWriter {
    private(set) var bytes: [UInt8]

    /// Continues these bytes.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Adds a byte.
    mutating func byte(_ value: UInt8) { bytes.append(value) }

    /// Seven bits a byte, the lowest first.
    mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// One more than the number; 0 for nil.
    mutating func optional(_ value: Int?) { number(value.map { UInt64(max(0, $0)) + 1 } ?? 0) }

    /// Adds the bits of a number.
    mutating func real(_ value: Double) {
        withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Adds the length of a text and its bytes.
    mutating func text(_ value: String) {
        number(UInt64(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }
}

/// Reads numbers and texts from untrusted bytes.
struct PackedReader {
    private var rest: UnsafeRawBufferPointer.SubSequence

    /// Reads these bytes from the first. They must outlive the reader.
    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    /// The next byte.
    mutating func byte() throws(TrackMessageError) -> UInt8 {
        guard let byte = rest.popFirst() else { throw TrackMessageError("a message that ends too soon") }
        return byte
    }

    /// The next number without a fixed length, up to `most`.
    mutating func number(most: UInt64) throws(TrackMessageError) -> UInt64 {
        var value: UInt64 = 0
        for place in 0..<9 {
            let byte = try byte()
            value |= UInt64(byte & 0x7F) << (7 * UInt64(place))
            guard byte & 0x80 == 0 else { continue }
            guard value <= most else { throw TrackMessageError("a number that is too large") }
            return value
        }
        throw TrackMessageError("a number that does not end")
    }

    /// The next number that may be nil, up to `most`.
    mutating func optional(most: Int) throws(TrackMessageError) -> Int? {
        let value = try number(most: UInt64(most) + 1)
        return value == 0 ? nil : Int(value - 1)
    }

    /// A finite number.
    mutating func real() throws(TrackMessageError) -> Double {
        guard rest.count >= 8 else { throw TrackMessageError("a message that ends too soon") }
        let bits = UnsafeRawBufferPointer(rebasing: rest.prefix(8)).loadUnaligned(as: UInt64.self)
        rest = rest.dropFirst(8)
        let value = Double(bitPattern: UInt64(littleEndian: bits))
        guard value.isFinite else { throw TrackMessageError("a number that is none") }
        return value
    }

    /// A text of at most `most` bytes: valid UTF-8 without control characters for any bytes. Nil: it is empty.
    mutating func text(most: Int) throws(TrackMessageError) -> String? {
        let count = Int(try number(most: UInt64(most)))
        guard rest.count >= count else { throw TrackMessageError("a message that ends too soon") }
        let bytes = UnsafeRawBufferPointer(rebasing: rest.prefix(count))
        rest = rest.dropFirst(count)
        // Most texts are plain; all others pass the rules of `TagText`.
        let isPlain = bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F } && bytes.first != 0x20 && bytes.last != 0x20
        return isPlain && count > 0 ? String(decoding: bytes, as: UTF8.self) : TagText.text(bytes)
    }

    /// Throws if bytes are left.
    func end() throws(TrackMessageError) {
        if !rest.isEmpty { throw TrackMessageError("a message with \(rest.count) bytes too many") }
    }
}

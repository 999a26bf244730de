/// Appends numbers and texts in the coding of the saved queue: numbers in groups of seven bits, the lowest first (LEB128),
/// texts as their length and their bytes.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// Reserves memory for this number of bytes.
    @inline(__always) mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    /// Bytes as they are.
    @inline(__always) mutating func append(_ part: some Collection<UInt8>) { bytes += part }

    /// A byte as it is.
    mutating func byte(_ value: UInt8) { bytes.append(value) }

    /// A number that is not negative: 1 to 10 bytes.
    mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// A count; a negative one is written as 0.
    mutating func number(_ value: Int) { number(UInt64(max(0, value))) }

    /// A number that may be negative: the lowest bit is its sign.
    mutating func signed(_ value: Int64) { number(UInt64(bitPattern: value << 1 ^ value >> 63)) }

    /// A number in its eight bytes.
    mutating func double(_ value: Double) { fixed(value.bitPattern) }

    /// A number in all its bytes, the lowest first.
    mutating func fixed(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// A text as the number of its bytes in UTF-8, and the bytes.
    mutating func text(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            number(utf8.count)
            bytes.append(contentsOf: utf8)
        }
    }
}

/// Reads the bytes of `ByteWriter`, and trusts none of them.
struct ByteReader {
    /// The bytes have no valid coding.
    struct Malformed: Error {}

    private let bytes: UnsafeRawBufferPointer
    /// Bytes that were read.
    private(set) var offset = 0

    /// Reads these bytes, which must outlive the reader.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Bytes that are left.
    var remaining: Int { bytes.count - offset }

    /// The next byte. Throws if there is none.
    mutating func byte() throws(Malformed) -> UInt8 {
        guard offset < bytes.count else { throw Malformed() }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// A number of up to 64 bits. Throws if it has more bits or does not end.
    mutating func number() throws(Malformed) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let byte = try byte()
            let part = UInt64(byte & 0x7f)
            guard shift < 63 || part < 2 else { throw Malformed() }
            value |= part << shift
            if byte < 0x80 { return value }
        }
        throw Malformed()
    }

    /// A count or a small number, up to `limit`.
    mutating func count(upTo limit: Int = .max) throws(Malformed) -> Int {
        guard let count = Int(exactly: try number()), count <= limit else { throw Malformed() }
        return count
    }

    /// A number that may be negative.
    mutating func signed() throws(Malformed) -> Int64 {
        let value = try number()
        return Int64(bitPattern: value >> 1) ^ -Int64(value & 1)
    }

    /// A finite number. Throws for any other: the writer writes none.
    mutating func double() throws(Malformed) -> Double {
        let value = Double(bitPattern: try fixed())
        guard value.isFinite else { throw Malformed() }
        return value
    }

    /// A number in all its bytes, the lowest first. Throws if bytes are missing.
    mutating func fixed<Value: FixedWidthInteger>() throws(Malformed) -> Value {
        let size = MemoryLayout<Value>.size
        guard remaining >= size else { throw Malformed() }
        defer { offset += size }
        return Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
    }

    /// The next `count` bytes without a copy; they are valid as long as the reader's. Throws if bytes are missing.
    mutating func raw(_ count: Int) throws(Malformed) -> UnsafeRawBufferPointer {
        guard count >= 0, remaining >= count else { throw Malformed() }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    /// A text; invalid UTF-8 in it is replaced. Throws if bytes are missing.
    mutating func text() throws(Malformed) -> String {
        String(decoding: try raw(count(upTo: remaining)), as: UTF8.self)
    }
}

/// Checksum of written bytes. It detects every change of up to eight neighbouring bytes, and all others but one in 2⁶⁴.
/// It is no protection from an attacker: a program that can write the files can write the sums.
enum Checksum {
    /// The sum of these bytes; `seed`: a number of the file that they belong to.
    static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var sum = step(seed, UInt64(bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            sum = step(sum, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        var last: UInt64 = 0
        while offset < bytes.count {
            last = last << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return step(sum, last)
    }

    /// Each step is a bijection of the word and of the sum, so that a change of one word always changes the sum (the
    /// multiplication and the shift of splitmix64, Steele, Lea and Flood 2014).
    private static func step(_ sum: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (sum ^ word) &* 0xbf58_476d_1ce4_e5b9
        return mixed ^ mixed >> 29
    }
}

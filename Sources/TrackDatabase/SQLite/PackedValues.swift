/// Values of tags of a track or of a set of tags in one blob: the tag and the number of each, as varints.
struct PackedValues: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    /// Reads borrowed bytes, which must outlive it.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The next value; nil: there is none, or the rest is damaged.
    mutating func next() -> (tag: UInt8, value: Int64)? {
        guard let tag = varint(), let value = varint() else { return nil }
        return (UInt8(truncatingIfNeeded: tag), value)
    }

    private mutating func varint() -> Int64? {
        var (result, shift): (Int64, Int64) = (0, 0)
        while offset < bytes.count, shift < 63 {
            let byte = bytes[offset]
            offset += 1
            result |= Int64(byte & 0x7F) << shift
            if byte < 0x80 { return result }
            shift += 7
        }
        return nil
    }

    /// The values as bytes.
    static func pack(_ values: [(tag: UInt8, value: Int64)]) -> [UInt8] {
        var result: [UInt8] = []
        for value in values {
            append(Int64(value.tag), to: &result)
            append(value.value, to: &result)
        }
        return result
    }

    /// The values in bytes.
    static func unpack(_ bytes: [UInt8]) -> [(tag: UInt8, value: Int64)] {
        bytes.withUnsafeBytes { Array(PackedValues($0)) }
    }

    private static func append(_ number: Int64, to bytes: inout [UInt8]) {
        var rest = UInt64(bitPattern: number)
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

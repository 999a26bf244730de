/// Bytes of a file in the making.
package struct ByteBuilder: Sendable {
    package var bytes: [UInt8] = []

    /// Nothing yet.
    package init() {}

    /// Adds the ASCII of `text`.
    package mutating func text(_ text: String) { bytes += Array(text.utf8) }

    /// Adds `number` in `count` bytes, least significant first.
    package mutating func little(_ number: some BinaryInteger, _ count: Int) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }

    /// Adds `number` in `count` bytes, most significant first.
    package mutating func big(_ number: some BinaryInteger, _ count: Int) {
        for index in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }
}

extension AudioMaterial {
    /// Layout of samples in a file.
    package enum Layout: Sendable, Hashable { case integer, float, double }

    /// The samples as bytes: integers of `bits` bits or floats, little or big endian. 8 bit ones are unsigned if asked for.
    package func sampleBytes(_ layout: Layout, bigEndian: Bool, unsigned8: Bool = false) -> [UInt8] {
        var builder = ByteBuilder()
        builder.bytes.reserveCapacity(samples.count * 8)
        func add(_ number: some BinaryInteger, _ count: Int) {
            if bigEndian { builder.big(number, count) } else { builder.little(number, count) }
        }
        switch layout {
        case .integer:
            let bias: Int32 = unsigned8 && bits == 8 ? 128 : 0
            for sample in samples { add(sample &+ bias, bits / 8) }
        case .float: for sample in float32 { add(sample.bitPattern, 4) }
        case .double: for sample in float32 { add(Double(sample).bitPattern, 8) }
        }
        return builder.bytes
    }

    /// Bytes of one sample in this layout.
    package func sampleSize(_ layout: Layout) -> Int {
        switch layout {
        case .integer: bits / 8
        case .float: 4
        case .double: 8
        }
    }
}

/// Fingerprint of the first 64 KiB of a stream: a hash of each KiB. A stream that begins alike at the next connection is a
/// file; a running station never repeats itself.
package struct StreamBeginning: Equatable, Sendable {
    /// Bytes of a block, and maximum number of blocks.
    package static let size = (block: 1024, blocks: 64)
    private var blocks: [UInt64] = []
    private var hash = Self.start
    private var count = 0

    /// Result of a comparison.
    package enum Comparison: Sendable {
        case same, different
        /// Too few bytes have come.
        case open
    }

    /// The fingerprint of no bytes.
    package init() {}

    /// Adds the next bytes of the stream; bytes after the first 64 KiB do not count.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) {
        guard blocks.count < Self.size.blocks else { return }
        for byte in bytes {
            // FNV-1a.
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
            count += 1
            guard count == Self.size.block else { continue }
            blocks.append(hash)
            (hash, count) = (Self.start, 0)
            if blocks.count == Self.size.blocks { return }
        }
    }

    private static let start: UInt64 = 0xCBF2_9CE4_8422_2325

    /// True if it has no whole block.
    package var isEmpty: Bool { blocks.isEmpty }

    /// Compares this fingerprint, as far as its bytes have come, with that of the earlier connection.
    package func compared(with earlier: StreamBeginning) -> Comparison {
        if zip(blocks, earlier.blocks).contains(where: { $0 != $1 }) { return .different }
        return !earlier.isEmpty && blocks.count >= earlier.blocks.count ? .same : .open
    }

    /// The body of `WireMessage.beginning`.
    package var bytes: [UInt8] {
        var writer = WireWriter()
        writer.integer(UInt8(blocks.count))
        for block in blocks { writer.integer(block) }
        return writer.bytes
    }

    /// Reads a body. Throws `WireError`.
    package init(_ bytes: some Collection<UInt8>) throws(WireError) {
        var reader = WireReader(bytes)
        try self.init(&reader)
        try reader.end()
    }

    /// Reads the bytes of `bytes`. Throws `WireError`.
    init(_ reader: inout WireReader) throws(WireError) {
        let count = Int(try reader.integer(UInt8.self))
        guard count <= Self.size.blocks else { throw WireError("\(count) blocks of a beginning") }
        for _ in 0..<count { blocks.append(try reader.integer(UInt64.self)) }
    }
}

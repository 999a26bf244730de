import AudioCore

/// A page of an Ogg file (RFC 3533 §6), without its content.
struct OggPage {
    /// Offset in the file.
    let offset: Int64
    /// 1: continues with a packet of the page before, 2: first of its stream, 4: last of it.
    let flags: UInt8
    /// Time of the last packet that ends on the page, in units of its stream; -1: none ends.
    let granule: Int64
    /// Serial number of the page's stream.
    let serial: UInt32
    /// Number of the page in its stream.
    let sequence: UInt32
    /// Lengths of the page's segments; a packet ends with the first one below 255.
    let lacing: [UInt8]

    /// Bytes of a header before its lacing.
    static let headerBytes = 27

    /// Reads the header at `offset`; nil: there is no page. Throws read errors.
    init?(in file: MediaFile, at offset: Int64) throws(DecodingError) {
        let bytes = try file.bytes(at: offset, count: Self.headerBytes + 255)
        guard bytes.count >= Self.headerBytes, bytes.starts(with: [0x4F, 0x67, 0x67, 0x53, 0]),
            bytes.count >= Self.headerBytes + Int(bytes[26])
        else { return nil }
        self.offset = offset
        flags = bytes[5]
        granule = Int64(bitPattern: bytes[6..<14].reversed().reduce(0) { $0 << 8 | UInt64($1) })
        serial = bytes[14..<18].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        sequence = bytes[18..<22].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        lacing = Array(bytes[Self.headerBytes..<Self.headerBytes + Int(bytes[26])])
    }

    var isFirst: Bool { flags & 2 != 0 }
    /// Offset of its content in the file.
    var bodyOffset: Int64 { offset + Int64(Self.headerBytes + lacing.count) }
    /// Offset of the next page.
    var end: Int64 { bodyOffset + Int64(lacing.reduce(0) { $0 + Int($1) }) }

    /// The last page of a stream in the 128 KiB before `end`. Throws read errors.
    static func last(of serial: UInt32, in file: MediaFile, before end: Int64) throws(DecodingError) -> OggPage? {
        let start = max(0, end - (128 << 10))
        let tail = try file.bytes(at: start, count: Int(end - start))
        var index = tail.count - headerBytes
        while index >= 0 {
            if tail[index] == 0x4F, let page = try OggPage(in: file, at: start + Int64(index)), page.serial == serial,
                page.granule >= 0
            {
                return page
            }
            index -= 1
        }
        return nil
    }

    /// The bytes of pages that hold `packets`, with numbers from `sequence` on, and then of empty pages up to `count`
    /// pages.
    static func pages(_ packets: [[UInt8]], serial: UInt32, sequence: UInt32, count: Int) -> [UInt8] {
        var lacing: [UInt8] = []
        for packet in packets {
            lacing += [UInt8](repeating: 255, count: packet.count / 255) + [UInt8(packet.count % 255)]
        }
        let content = packets.flatMap { $0 }
        var result: [UInt8] = []
        var taken = 0
        var segment = 0
        for number in 0..<max(count, (lacing.count + 254) / 255) {
            let part = lacing[min(segment, lacing.count)..<min(segment + 255, lacing.count)]
            let isContinued = segment > 0 && segment < lacing.count && lacing[segment - 1] == 255
            segment += part.count
            let length = part.reduce(0) { $0 + Int($1) }
            var page: [UInt8] = Array("OggS".utf8) + [0, isContinued ? 1 : 0]
            // A page on which no packet ends has no time.
            page += [UInt8](repeating: part.contains { $0 < 255 } ? 0 : 0xFF, count: 8)
            for value in [serial, sequence &+ UInt32(number), 0] {
                page += (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            }
            page += [UInt8(part.count)] + part + content[taken..<taken + length]
            taken += length
            let sum = checksum(page)
            for index in 0..<4 { page[22 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
            result += page
        }
        return result
    }

    /// CRC-32 with polynomial 0x04C11DB7, from the top bit on, beginning with 0.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum: UInt32 = 0
        for byte in bytes {
            sum ^= UInt32(byte) << 24
            for _ in 0..<8 { sum = sum & 0x8000_0000 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
        }
        return sum
    }
}

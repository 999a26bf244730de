/// Kind and size of a picture, from its first bytes. Nothing decodes a pixel.
package struct ImageHeader: Equatable, Sendable {
    /// The kinds of pictures that are recognised by their content.
    package enum Kind: String, Sendable, CaseIterable {
        case jpeg, png, gif, webp, avif

        /// As HTTP names it.
        package var mediaType: String { "image/\(rawValue)" }
    }

    package let kind: Kind
    /// Pixels across.
    package let width: Int
    /// Pixels down.
    package let height: Int

    /// Larger sizes are invalid.
    private static let largest = 65_535

    /// Reads the header of a picture; nil: its kind is unknown, or it is broken.
    package init?(_ bytes: [UInt8]) {
        let reader = Bytes(all: bytes)
        guard
            let (kind, width, height) = Self.png(reader) ?? Self.gif(reader) ?? Self.jpeg(reader)
                ?? Self.webp(reader) ?? Self.avif(reader),
            (1...Self.largest).contains(width), (1...Self.largest).contains(height)
        else { return nil }
        self.kind = kind
        self.width = width
        self.height = height
    }

    private typealias Found = (Kind, Int, Int)

    /// ISO/IEC 15948 §5.2, §11.2.2.
    private static func png(_ bytes: Bytes) -> Found? {
        guard bytes.has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], at: 0), bytes.has("IHDR", at: 12),
            let width = bytes.big(16, 4), let height = bytes.big(20, 4)
        else { return nil }
        return (.png, width, height)
    }

    /// GIF89a §18.
    private static func gif(_ bytes: Bytes) -> Found? {
        guard bytes.has("GIF87a", at: 0) || bytes.has("GIF89a", at: 0), let width = bytes.little(6, 2),
            let height = bytes.little(8, 2)
        else { return nil }
        return (.gif, width, height)
    }

    /// ISO/IEC 10918-1 annex B: segments up to the first start of frame.
    private static func jpeg(_ bytes: Bytes) -> Found? {
        guard bytes.has([0xFF, 0xD8, 0xFF], at: 0) else { return nil }
        var offset = 2
        for _ in 0..<4096 {
            guard bytes.big(offset, 1) == 0xFF, let marker = bytes.big(offset + 1, 1) else { return nil }
            switch marker {
            case 0xFF: offset += 1
            case 0x01, 0xD0...0xD7: offset += 2
            case 0xC4, 0xC8, 0xCC, 0xDB...0xFE:
                guard let length = bytes.big(offset + 2, 2), length >= 2 else { return nil }
                offset += 2 + length
            case 0xC0...0xCF:
                guard let height = bytes.big(offset + 5, 2), let width = bytes.big(offset + 7, 2) else { return nil }
                return (.jpeg, width, height)
            default: return nil
            }
        }
        return nil
    }

    /// RFC 9649 §2.5 to 2.7, RFC 6386 §9.1.
    private static func webp(_ bytes: Bytes) -> Found? {
        guard bytes.has("RIFF", at: 0), bytes.has("WEBP", at: 8) else { return nil }
        if bytes.has("VP8X", at: 12), let width = bytes.little(24, 3), let height = bytes.little(27, 3) {
            return (.webp, width + 1, height + 1)
        }
        if bytes.has("VP8L", at: 12), bytes.big(20, 1) == 0x2F, let sizes = bytes.little(21, 4) {
            return (.webp, sizes & 0x3FFF + 1, sizes >> 14 & 0x3FFF + 1)
        }
        if bytes.has("VP8 ", at: 12), bytes.has([0x9D, 0x01, 0x2A], at: 23), let width = bytes.little(26, 2),
            let height = bytes.little(28, 2)
        {
            return (.webp, width & 0x3FFF, height & 0x3FFF)
        }
        return nil
    }

    /// ISO/IEC 23008-12 §6.5.3: the largest of the image sizes ('ispe') in meta/iprp/ipco.
    private static func avif(_ bytes: Bytes) -> Found? {
        guard bytes.has("ftyp", at: 4), let length = bytes.big(0, 4), (16...4096).contains(length),
            length <= bytes.all.count
        else { return nil }
        let brands = stride(from: 8, to: length, by: 4)
        guard brands.contains(where: { bytes.has("avif", at: $0) || bytes.has("avis", at: $0) }) else { return nil }
        guard let meta = bytes.box("meta", in: length..<bytes.all.count),
            let properties = bytes.box("iprp", in: (meta.lowerBound + 4)..<max(meta.lowerBound + 4, meta.upperBound)),
            let container = bytes.box("ipco", in: properties)
        else { return nil }
        var best: Found?
        var rest = container
        while let size = bytes.box("ispe", in: rest) {
            if let width = bytes.big(size.lowerBound + 4, 4), let height = bytes.big(size.lowerBound + 8, 4),
                width <= largest, height <= largest,
                width * height > best.map({ $0.1 * $0.2 }) ?? 0
            {
                best = (.avif, width, height)
            }
            rest = size.upperBound..<container.upperBound
        }
        return best
    }
}

/// Bytes with bounds checks: numbers at offsets that may lie outside.
private struct Bytes {
    let all: [UInt8]

    func has(_ text: StaticString, at offset: Int) -> Bool {
        text.withUTF8Buffer { has(Array($0), at: offset) }
    }

    func has(_ bytes: [UInt8], at offset: Int) -> Bool {
        offset >= 0 && offset + bytes.count <= all.count && all[offset..<offset + bytes.count].elementsEqual(bytes)
    }

    func big(_ offset: Int, _ count: Int) -> Int? {
        guard offset >= 0, offset + count <= all.count else { return nil }
        return all[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }

    func little(_ offset: Int, _ count: Int) -> Int? {
        guard offset >= 0, offset + count <= all.count else { return nil }
        return all[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Content of the first box of this type in `range` (ISO/IEC 14496-12 §4.2).
    func box(_ type: StaticString, in range: Range<Int>) -> Range<Int>? {
        var offset = range.lowerBound
        for _ in 0..<4096 where offset + 8 <= range.upperBound {
            guard let length = big(offset, 4), length >= 8, offset + length <= range.upperBound else { return nil }
            if has(type, at: offset + 4) { return offset + 8..<offset + length }
            offset += length
        }
        return nil
    }
}

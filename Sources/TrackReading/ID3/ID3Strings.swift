/// The texts of ID3 as UTF-8: an encoding, then one text or several with zeros between.
enum ID3Strings {
    /// Gives each text of a frame's content to `body`, empty ones too. Encodings: 0 Latin-1, 1 UTF-16 with a mark, 2 UTF-16
    /// big-endian, 3 UTF-8.
    static func forEach(_ content: ByteView, encoding: UInt8, _ body: (ByteView) -> Void) {
        switch encoding {
        case 1, 2: withView(utf16(content, isBig: encoding == 2)) { $0.forEachPart(body) }
        case 3: content.forEachPart(body)
        default:
            if content.buffer.allSatisfy({ $0 < 0x80 }) {
                content.forEachPart(body)
            } else {
                withView(latin1(content)) { $0.forEachPart(body) }
            }
        }
    }

    /// The texts of a frame that begins with its encoding.
    static func forEach(_ content: ByteView, _ body: (ByteView) -> Void) {
        if !content.isEmpty { forEach(content.part(1), encoding: content[0], body) }
    }

    /// Gives the text in Latin-1 as UTF-8 to `body`.
    static func latin1(_ bytes: ByteView, _ body: (ByteView) -> Void) { withView(latin1(bytes), body) }

    private static func withView(_ bytes: [UInt8], _ body: (ByteView) -> Void) {
        bytes.withUnsafeBufferPointer { body(ByteView($0.baseAddress, count: $0.count)) }
    }

    private static func latin1(_ bytes: ByteView) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count * 2)
        for byte in bytes.buffer {
            if byte < 0x80 {
                result.append(byte)
            } else {
                result.append(0xC0 | byte >> 6)
                result.append(0x80 | byte & 0x3F)
            }
        }
        return result
    }

    /// Each text may begin with a mark of its own.
    private static func utf16(_ bytes: ByteView, isBig: Bool) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count * 3 / 2)
        var big = isBig
        var isFirst = true
        var high: UInt32 = 0
        for index in 0..<bytes.count / 2 {
            let unit = UInt32(big ? bytes.big16(2 * index) : bytes.little16(2 * index))
            if isFirst {
                isFirst = false
                if unit == 0xFEFF { continue }
                if unit == 0xFFFE {
                    big.toggle()
                    continue
                }
            }
            if high != 0 {
                if unit & 0xFC00 == 0xDC00 {
                    append(0x10000 + ((high & 0x3FF) << 10 | unit & 0x3FF), to: &result)
                    high = 0
                    continue
                }
                append(0xFFFD, to: &result)
                high = 0
            }
            if unit & 0xFC00 == 0xD800 {
                high = unit
            } else {
                append(unit & 0xFC00 == 0xDC00 ? 0xFFFD : unit, to: &result)
                isFirst = unit == 0
            }
        }
        if high != 0 { append(0xFFFD, to: &result) }
        return result
    }

    private static func append(_ scalar: UInt32, to result: inout [UInt8]) {
        func tail(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(scalar >> shift & 0x3F) }
        switch scalar {
        case ..<0x80: result.append(UInt8(scalar))
        case ..<0x800: result += [0xC0 | UInt8(scalar >> 6), tail(0)]
        case ..<0x10000: result += [0xE0 | UInt8(scalar >> 12), tail(6), tail(0)]
        default: result += [0xF0 | UInt8(scalar >> 18 & 7), tail(12), tail(6), tail(0)]
        }
    }
}

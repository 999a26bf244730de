/// The texts of ID3: an encoding, then one text or several with zeros between.
enum ID3Strings {
    /// Passes each text of a frame's content to `body`, empty ones too. Encodings: 0 Latin-1, 1 UTF-16 with a byte
    /// order mark, 2 UTF-16 big-endian, 3 UTF-8. All become UTF-8.
    static func forEach(_ content: ByteView, encoding: UInt8, _ body: (ByteView) -> Void) {
        switch encoding {
        case 1:
            let isBig = content.big16(0) != 0xFFFE && LegacyText.looksBigEndian(content.buffer)
            withView(utf16(content, isBig: isBig)) { $0.forEachPart(body) }
        case 2: withView(utf16(content, isBig: true)) { $0.forEachPart(body) }
        case 3: content.forEachPart(body)
        default: content.forEachPart { latin1($0, body) }
        }
    }

    /// Passes a text marked as Latin-1 to `body`, as UTF-8.
    static func latin1(_ bytes: ByteView, _ body: (ByteView) -> Void) {
        if bytes.buffer.allSatisfy({ $0 < 0x80 }) { return body(bytes) }
        withView(Array(LegacyText.latin1(bytes.buffer).utf8), body)
    }

    /// Passes the texts of a frame that begins with its encoding to `body`.
    static func forEach(_ content: ByteView, _ body: (ByteView) -> Void) {
        if !content.isEmpty { forEach(content.part(1), encoding: content[0], body) }
    }

    /// Passes each text in UTF-16, little-endian, to `body`.
    static func forEachLittle(_ content: ByteView, _ body: (ByteView) -> Void) {
        withView(utf16(content, isBig: false)) { $0.forEachPart(body) }
    }

    private static func withView(_ bytes: [UInt8], _ body: (ByteView) -> Void) {
        bytes.withUnsafeBufferPointer { body(ByteView($0.baseAddress, count: $0.count)) }
    }

    /// Converts UTF-16. Each text may begin with a byte order mark of its own.
    private static func utf16(_ bytes: ByteView, isBig: Bool) -> [UInt8] {
        // A unit takes three bytes at most, also an unpaired surrogate.
        [UInt8](unsafeUninitializedCapacity: (bytes.count / 2 + 1) * 3) { room, count in
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
                    let isPair = unit & 0xFC00 == 0xDC00
                    append(isPair ? 0x10000 + ((high & 0x3FF) << 10 | unit & 0x3FF) : 0xFFFD, to: room, &count)
                    high = 0
                    if isPair { continue }
                }
                if unit & 0xFC00 == 0xD800 {
                    high = unit
                } else {
                    append(unit & 0xFC00 == 0xDC00 ? 0xFFFD : unit, to: room, &count)
                    isFirst = unit == 0
                }
            }
            if high != 0 { append(0xFFFD, to: room, &count) }
        }
    }

    /// Appends a scalar as UTF-8 if there is room for it.
    private static func append(_ scalar: UInt32, to room: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int) {
        let length = scalar < 0x80 ? 1 : scalar < 0x800 ? 2 : scalar < 0x10000 ? 3 : 4
        guard count + length <= room.count else { return }
        if length == 1 {
            room[count] = UInt8(truncatingIfNeeded: scalar)
        } else {
            let mark: UInt32 = length == 2 ? 0xC0 : length == 3 ? 0xE0 : 0xF0
            room[count] = UInt8(truncatingIfNeeded: mark | scalar >> UInt32(6 * (length - 1)))
            for index in 1..<length {
                room[count + index] = UInt8(
                    truncatingIfNeeded: 0x80 | scalar >> UInt32(6 * (length - 1 - index)) & 0x3F)
            }
        }
        count += length
    }
}

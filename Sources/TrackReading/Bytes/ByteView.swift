import Glibc

/// Some bytes in a buffer that lives as long as its reader. Every access is checked: a byte outside is 0, so that a
/// false length in a file neither leads out of the buffer nor ends the program.
struct ByteView {
    private let base: UnsafePointer<UInt8>?
    let count: Int

    /// The `count` bytes from `base` on.
    init(_ base: UnsafePointer<UInt8>?, count: Int) {
        self.base = base
        self.count = base == nil ? 0 : max(0, count)
    }

    static var empty: ByteView { ByteView(nil, count: 0) }

    var isEmpty: Bool { count == 0 }

    /// The byte at this index; 0 outside.
    subscript(index: Int) -> UInt8 {
        guard index >= 0, index < count, let base else { return 0 }
        return base[index]
    }

    /// The bytes as a buffer; valid until the next read.
    var buffer: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: base, count: count) }

    /// The bytes from `start` on, at most `length` of them.
    func part(_ start: Int, _ length: Int = .max) -> ByteView {
        guard start >= 0, start < count, length > 0, let base else { return .empty }
        return ByteView(base + start, count: min(length, count - start))
    }

    /// Unsigned number of 2 bytes, the highest first.
    func big16(_ index: Int) -> Int { Int(self[index]) << 8 | Int(self[index + 1]) }
    /// Of 3 bytes.
    func big24(_ index: Int) -> Int { big16(index) << 8 | Int(self[index + 2]) }
    /// Of 4 bytes.
    func big32(_ index: Int) -> Int { big16(index) << 16 | big16(index + 2) }
    /// Of 8 bytes; larger numbers become 2^56.
    func big64(_ index: Int) -> Int64 {
        let high = Int64(big32(index))
        return high >= 1 << 24 ? 1 << 56 : high << 32 | Int64(big32(index + 4))
    }
    /// Unsigned number of 2 bytes, the lowest first.
    func little16(_ index: Int) -> Int { Int(self[index + 1]) << 8 | Int(self[index]) }
    /// Of 4 bytes.
    func little32(_ index: Int) -> Int { little16(index + 2) << 16 | little16(index) }
    /// Of 8 bytes; larger numbers become 2^56.
    func little64(_ index: Int) -> Int64 {
        let high = Int64(little32(index + 4))
        return high >= 1 << 24 ? 1 << 56 : high << 32 | Int64(little32(index))
    }
    /// Number of 4 bytes with seven bits each (ID3v2.4 §6.2).
    func safe32(_ index: Int) -> Int {
        (0..<4).reduce(0) { $0 << 7 | Int(self[index + $1] & 0x7F) }
    }

    /// True if the bytes at `index` are these letters.
    func has(_ text: StaticString, at index: Int = 0) -> Bool {
        guard index >= 0, index + text.utf8CodeUnitCount <= count, let base else { return false }
        return memcmp(base + index, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    /// Index of the first such byte from `start` on.
    func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        guard start >= 0, start < count, let base, let found = memchr(base + start, Int32(byte), count - start) else {
            return nil
        }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    /// The bytes before the first zero.
    var untilZero: ByteView { firstIndex(of: 0).map { part(0, $0) } ?? self }
}

extension ByteView {
    /// Passes the parts between zeros to `body`, empty ones too.
    func forEachPart(_ body: (ByteView) -> Void) {
        var start = 0
        while let zero = firstIndex(of: 0, from: start) {
            body(part(start, zero - start))
            start = zero + 1
        }
        body(part(start))
    }

    /// The text of these bytes by the rules of `TagText`; nil: it is empty.
    var text: String? {
        var first = 0
        var last = count
        while first < last, self[first] == 0x20 { first += 1 }
        while last > first, self[last - 1] == 0x20 { last -= 1 }
        guard first < last else { return nil }
        let body = part(first, last - first)
        guard body.count <= TagText.maximumBytes else { return TagText.text(buffer) }
        var isPlain = true
        for byte in body.buffer where byte < 0x20 || byte >= 0x7F {
            isPlain = false
            break
        }
        if isPlain { return String(decoding: body.buffer, as: UTF8.self) }
        // Most texts in other scripts need no replacement either.
        for (index, byte) in body.buffer.enumerated() {
            switch byte {
            case 0..<0x20, 0x7F: return TagText.text(buffer)
            case 0xC2 where (0x80..<0xA0).contains(body[index + 1]): return TagText.text(buffer)
            case 0xE2 where body[index + 1] == 0x80 && body[index + 2] & 0xFE == 0xA8: return TagText.text(buffer)
            case 0xEF where body[index + 1] == 0xBB && body[index + 2] == 0xBF: return TagText.text(buffer)
            default: continue
            }
        }
        return String(validating: body.buffer, as: UTF8.self)?.composed ?? TagText.text(buffer)
    }
}

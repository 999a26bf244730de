/// Base64 for addresses and headers, without padding (RFC 4648, section 5).
enum Base64URL {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The text of bytes.
    static func text(_ bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = (0..<3).reduce(0) { $0 << 8 | ($1 < group.count ? Int(group[start + $1]) : 0) }
            for index in 0...group.count { result.append(digits[bits >> (18 - 6 * index) & 63]) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The bytes of a text; nil: it is no such text, or its last character has bits that no byte has.
    static func bytes(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits = 0
        var count = 0
        for character in text.utf8 {
            guard let digit = digits.firstIndex(of: character) else { return nil }
            bits = (bits << 6 | digit) & 0xFFFF
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(bits >> count & 255))
            }
        }
        return count < 6 && bits & (1 << count - 1) == 0 ? bytes : nil
    }
}

import CMessageDigest

/// The secret of a paired device: 256 random bits. The bridge keeps only its digest.
package struct DeviceToken: Sendable {
    /// The 43 characters of base64url (RFC 4648, section 5) that the device sends.
    package let text: String

    /// A new token.
    init(_ generator: inout some RandomNumberGenerator) {
        var bytes: [UInt8] = []
        for _ in 0..<4 { withUnsafeBytes(of: generator.next() as UInt64) { bytes += $0 } }
        text = Self.base64(bytes)
    }

    /// The SHA-256 of a text (FIPS 180-4), as 64 hexadecimal digits.
    static func digest(_ text: String) -> String {
        var context = SHA2_CTX()
        SHA256Init(&context)
        let bytes = Array(text.utf8)
        bytes.withUnsafeBytes { SHA256Update(&context, $0.bindMemory(to: UInt8.self).baseAddress, $0.count) }
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        SHA256Final(&digest, &context)
        return hexadecimal(digest)
    }

    /// Two digits for each byte.
    static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var result: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = (0..<3).reduce(0) { $0 << 8 | ($1 < group.count ? Int(group[start + $1]) : 0) }
            for index in 0...group.count { result.append(digits[bits >> (18 - 6 * index) & 63]) }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

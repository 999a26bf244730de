import CMessageDigest

/// Identifiers made of content.
package enum ContentDigest {
    /// The first half of the SHA-256 of the bytes (FIPS 180-4), as 32 hexadecimal digits.
    package static func of(_ bytes: [UInt8]) -> String {
        var context = SHA2_CTX()
        SHA256Init(&context)
        bytes.withUnsafeBytes { SHA256Update(&context, $0.bindMemory(to: UInt8.self).baseAddress, $0.count) }
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        SHA256Final(&digest, &context)
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: digest.prefix(16).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

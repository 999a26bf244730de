import CMessageDigest

/// Digests and authentication codes of messages, with SHA-256.
enum MessageCode {
    /// The SHA-256 (FIPS 180-4) of bytes: 32 bytes.
    static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var context = SHA2_CTX()
        SHA256Init(&context)
        bytes.withUnsafeBytes { SHA256Update(&context, $0.bindMemory(to: UInt8.self).baseAddress, $0.count) }
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        SHA256Final(&digest, &context)
        return digest
    }

    /// The HMAC (RFC 2104, FIPS 198-1) of a message: 32 bytes. `key`: at most 64 bytes.
    static func code(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        let padded = key + [UInt8](repeating: 0, count: 64 - key.count)
        let inner = digest(padded.map { $0 ^ 0x36 } + message)
        return digest(padded.map { $0 ^ 0x5C } + inner)
    }

    /// 32 random bytes.
    static func randomKey(_ generator: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<4 { withUnsafeBytes(of: generator.next() as UInt64) { bytes += $0 } }
        return bytes
    }
}

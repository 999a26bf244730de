import CMessageDigest

/// A random key that signs permissions for single pictures. It lives as long as the process.
package struct PictureKey: Sendable {
    private let bytes: [UInt8]

    /// A new key.
    package init() {
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        for _ in 0..<4 { withUnsafeBytes(of: generator.next() as UInt64) { bytes += $0 } }
        self.init(bytes)
    }

    /// A key of 32 bytes.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The signature of a picture, its size in pixels and the end of the permission, a Unix time in seconds: 32 hexadecimal
    /// digits.
    package func signature(_ id: String, size: Int64, until: Int64) -> String {
        DeviceToken.hexadecimal(Array(code(Array("\(id)\n\(size)\n\(until)".utf8)).prefix(16)))
    }

    /// True if a text is that signature. The time is the same for each wrong text.
    package func isSignature(_ text: String, _ id: String, size: Int64, until: Int64) -> Bool {
        let right = Array(signature(id, size: size, until: until).utf8)
        let given = Array(text.utf8)
        guard given.count == right.count else { return false }
        return zip(given, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// HMAC with SHA-256 (RFC 2104, FIPS 198-1) of a message.
    func code(_ message: [UInt8]) -> [UInt8] {
        let padded = bytes + [UInt8](repeating: 0, count: 64 - bytes.count)
        let inner = Self.digest(padded.map { $0 ^ 0x36 } + message)
        return Self.digest(padded.map { $0 ^ 0x5C } + inner)
    }

    private static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var context = SHA2_CTX()
        SHA256Init(&context)
        bytes.withUnsafeBytes { SHA256Update(&context, $0.bindMemory(to: UInt8.self).baseAddress, $0.count) }
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        SHA256Final(&digest, &context)
        return digest
    }
}

/// A random key that signs permissions for single pictures. It lives as long as the process.
package struct PictureKey: Sendable {
    private let bytes: [UInt8]

    /// A new key.
    package init() {
        var generator = SystemRandomNumberGenerator()
        self.init(MessageCode.randomKey(&generator))
    }

    /// A key of 32 bytes.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The signature of a picture, its size in pixels and the end of the permission, a Unix time in seconds: 32 hexadecimal
    /// digits.
    package func signature(_ id: String, size: Int64, until: Int64) -> String {
        DeviceToken.hexadecimal(Array(MessageCode.code(bytes, Array("\(id)\n\(size)\n\(until)".utf8)).prefix(16)))
    }

    /// True if a text is that signature. The time is the same for each wrong text.
    package func isSignature(_ text: String, _ id: String, size: Int64, until: Int64) -> Bool {
        SecretText.isEqual(Array(text.utf8), Array(signature(id, size: size, until: until).utf8))
    }
}

/// The secret of a paired device: 256 random bits. The bridge keeps only its digest.
package struct DeviceToken: Sendable {
    /// The 43 characters of base64url (RFC 4648, section 5) that the device sends.
    package let text: String

    /// A new token.
    init(_ generator: inout some RandomNumberGenerator) {
        text = Base64URL.text(MessageCode.randomKey(&generator))
    }

    /// The SHA-256 of a text (FIPS 180-4), as 64 hexadecimal digits.
    static func digest(_ text: String) -> String { hexadecimal(MessageCode.digest(Array(text.utf8))) }

    /// Two digits for each byte.
    static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

/// Percent-encoded text of addresses (RFC 3986 section 2.1).
package enum PercentCoding {
    /// Decodes `text` to bytes. Percent signs without two hexadecimal digits stay as they are, and `isWhole` is false.
    package static func decoded(_ text: some Sequence<UInt8>) -> (bytes: [UInt8], isWhole: Bool) {
        let text = Array(text)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var isWhole = true
        var index = 0
        while index < text.count {
            guard text[index] == UInt8(ascii: "%") else {
                bytes.append(text[index])
                index += 1
                continue
            }
            if index + 2 < text.count, let high = digit(text[index + 1]), let low = digit(text[index + 2]) {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(text[index])
                isWhole = false
                index += 1
            }
        }
        return (bytes, isWhole)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

import NowPlayingClient

/// Text of strangers on its way to the bus, where one that is no UTF-8 by sd-bus's measure would be refused.
enum BusText {
    /// Bytes of a text, at most: the protocol's own limit.
    static let limit = 4096

    /// One line without control characters, and without the code points that Unicode keeps free of characters, which
    /// sd-bus refuses; cut at 4 KiB. Nil when there is nothing left.
    static func clean(_ text: String?) -> String? {
        guard let text else { return nil }
        var result = String.UnicodeScalarView()
        var bytes = 0
        for scalar in TerminalText.safe(text).unicodeScalars {
            let kept = isCharacter(scalar) ? scalar : "\u{FFFD}"
            bytes += UTF8.width(kept)
            if bytes > limit { break }
            result.append(kept)
        }
        return result.isEmpty ? nil : String(result)
    }

    /// True if it is none of the 66 noncharacters (Unicode, 23.7).
    private static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
        !(0xFDD0...0xFDEF).contains(scalar.value) && scalar.value & 0xFFFE != 0xFFFE
    }

    /// A uri, or an absolute path as a uri: what is no printable ASCII is percent-encoded. Nil when it has no scheme or is
    /// too long (RFC 3986).
    static func uri(_ text: String?) -> String? {
        guard let text, !text.isEmpty else { return nil }
        let result: String
        if text.hasPrefix("/") {
            result = "file://" + encoded(text, keeping: { isUnreserved($0) || $0 == UInt8(ascii: "/") })
        } else {
            guard let colon = text.firstIndex(of: ":"), isScheme(text[..<colon]) else { return nil }
            result = encoded(text, keeping: { $0 > 0x20 && $0 < 0x7F && !"\"<>\\^`{|}".utf8.contains($0) })
        }
        return result.utf8.count <= 3 * limit ? result : nil
    }

    /// A uri that a desktop may fetch a picture from: `http` and `https` alone, as a name of a file means nothing there.
    static func pictureURI(_ text: String?) -> String? {
        guard let result = uri(text), result.hasPrefix("https://") || result.hasPrefix("http://") else { return nil }
        return result
    }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.first, first.isASCII, first.isLetter else { return false }
        return text.utf8.allSatisfy { isAlphanumeric($0) || "+-.".utf8.contains($0) }
    }

    private static func encoded(_ text: String, keeping isKept: (UInt8) -> Bool) -> String {
        var result = ""
        for byte in text.utf8 {
            if isKept(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || "-._~".utf8.contains(byte) }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        let letter = byte | 0x20
        return letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z")
            || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }
}

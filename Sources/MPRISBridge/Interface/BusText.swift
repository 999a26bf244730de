import NowPlayingClient

/// Foreign text for the bus. sd-bus refuses text that it does not accept as UTF-8.
enum BusText {
    /// Maximum bytes of a text: the protocol's own limit.
    static let limit = 4096

    /// One line without control characters and without noncharacters, which sd-bus refuses; cut at 4 KiB. Nil: nothing is
    /// left.
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

    /// True if the scalar is none of the 66 noncharacters (Unicode, 23.7).
    private static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
        !(0xFDD0...0xFDEF).contains(scalar.value) && scalar.value & 0xFFFE != 0xFFFE
    }

    /// A uri, or an absolute path as a uri. All bytes but printable ASCII are percent-encoded. Nil: it has no scheme or is
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

    /// A uri from which a desktop may fetch a picture: only `http` and `https`, as a file name means nothing there.
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

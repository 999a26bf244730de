/// Makes texts from the untrusted bytes of tags.
package enum TagText {
    /// Longest text in bytes of UTF-8.
    package static let maximumBytes = 4096

    /// The text of these bytes in normal form C: UTF-8, or as `LegacyText` decodes what is not UTF-8 (old taggers). Control
    /// characters from U+0080 on are the characters of Windows-1252 at their positions, since programs take it for Latin-1.
    /// Other control characters and line separators become spaces, outer space is dropped, and the text is cut at a
    /// character to 4 KiB. Nil: it is empty.
    package static func text(_ bytes: some RandomAccessCollection<UInt8>) -> String? {
        // Half a character at the limit would make the rest look invalid.
        let wholePart = prefix(of: bytes, maximum: maximumBytes)
        var scalars = String.UnicodeScalarView()
        for decoded in LegacyText.decoded(wholePart).unicodeScalars {
            // U+0085 is the end of a line in Unicode.
            let scalar = decoded == "\u{85}" ? decoded : LegacyText.windowsScalar(decoded)
            scalars.append(isControl(scalar) ? " " : scalar)
        }
        let first = scalars.firstIndex { $0 != " " }
        guard let first, let last = scalars.lastIndex(where: { $0 != " " }) else { return nil }
        return cut(String(scalars[first...last]).composed)
    }

    /// The text cut at a character to the maximum.
    package static func cut(_ text: String) -> String {
        if text.utf8.count <= maximumBytes { return text }
        return String(decoding: prefix(of: Array(text.utf8), maximum: maximumBytes), as: UTF8.self)
    }

    /// At most `maximum` bytes, without a partial UTF-8 sequence at the end.
    private static func prefix<Bytes: RandomAccessCollection<UInt8>>(
        of bytes: Bytes, maximum: Int
    ) -> Bytes.SubSequence {
        var part = bytes.prefix(maximum)
        if part.count == bytes.count { return part }
        let next = bytes[part.endIndex]
        guard next & 0xC0 == 0x80 else { return part }
        // The cut is inside a sequence: drops its bytes, at most three.
        for _ in 0..<3 {
            guard let last = part.last else { break }
            if last & 0xC0 == 0x80 { part = part.dropLast() } else { break }
        }
        if let last = part.last, last >= 0xC0 { part = part.dropLast() }
        return part
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0xFEFF: true
        default: false
        }
    }
}

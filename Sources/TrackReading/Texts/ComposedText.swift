@_spi(_Unicode) import Swift

extension String {
    /// The text in Unicode's normal form C: the same name is the same text, whichever program wrote it.
    package var composed: String {
        unicodeScalars.allSatisfy(Self.isStable) ? self : String(String.UnicodeScalarView(_nfc))
    }

    /// True for most scalars that normal form C keeps beside any other one of them.
    private static func isStable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Latin; Greek without its singletons, Cyrillic; kana, Han; Hangul syllables.
        case 0..<0x300, 0x388..<0x483, 0x2010..<0x2028, 0x3000..<0x302A, 0x3041..<0x3097, 0x30A1..<0x30FF,
            0x4E00..<0xA000, 0xAC00..<0xD7A4, 0xFF01..<0xFF9E:
            true
        default: false
        }
    }
}

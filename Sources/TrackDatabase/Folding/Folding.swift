/// Text for comparisons: without case, marks and width, in any script. The rules:
///
/// * Compatibility decomposition (full-width letters, ligatures, superscripts), then lower case; `ß` is `ss`, `ς` is `σ`.
/// * Marks of Latin, Greek, Cyrillic, Hebrew and Arabic are removed, and so are letters' strokes: `ø` `o`, `ł` `l`, `æ`
///   `ae`, `İ` and `ı` `i`, `ё` `е`. Vowels of Indic scripts and tones of Thai stay.
/// * Katakana of either width becomes hiragana, the start of Japanese input methods; voice marks stay (`が` is not `か`).
/// * Hangul is composed. Typographic quotes and dashes become ASCII ones. Controls and spaces become a space, and
///   invisible characters are removed.
package enum Folding {
    /// The folded text. Any thread.
    package static func fold(_ text: String) -> String {
        var text = text
        let plain = text.withUTF8 { bytes -> String? in
            guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
            return String(unsafeUninitializedCapacity: bytes.count) { target in
                for (index, byte) in bytes.enumerated() { target[index] = ascii(byte) }
                return bytes.count
            }
        }
        return plain ?? foldAny(text)
    }

    /// The folded text of a name of a file, whose bytes need not be UTF-8.
    package static func fold(bytes: some Collection<UInt8>) -> String { fold(String(decoding: bytes, as: UTF8.self)) }

    private static func ascii(_ byte: UInt8) -> UInt8 {
        switch byte {
        case 0x41...0x5A: byte | 0x20
        case 0x60: 0x27
        case 0..<0x20, 0x7F: 0x20
        default: byte
        }
    }

    private static func foldAny(_ text: String) -> String {
        var folded: [UInt32] = []
        folded.reserveCapacity(text.utf8.count)
        let pages = FoldingPages.shared
        var composes = false
        for scalar in text.unicodeScalars {
            if scalar.value < 0x80 {
                folded.append(UInt32(ascii(UInt8(scalar.value))))
            } else {
                pages.append(scalar.value, to: &folded)
            }
        }
        for value in folded where value >= 0x300 && isCombining(value) { composes = true }
        if composes {
            order(&folded)
            folded = composed(folded)
        }
        var result = String.UnicodeScalarView()
        for value in folded { result.append(Unicode.Scalar(value) ?? "\u{FFFD}") }
        return String(result)
    }

    /// True if the scalar may combine with the one before it.
    private static func isCombining(_ value: UInt32) -> Bool {
        (0x1160...0x11FF).contains(value) || Unicode.Scalar(value)?.properties.canonicalCombiningClass.rawValue ?? 0 > 0
    }

    /// Sorts the remaining marks in the order of Unicode, so that equivalent texts are equal.
    private static func order(_ values: inout [UInt32]) {
        func rank(_ value: UInt32) -> UInt8 {
            Unicode.Scalar(value)?.properties.canonicalCombiningClass.rawValue ?? 0
        }
        for index in values.indices.dropFirst() {
            let own = rank(values[index])
            guard own > 0 else { continue }
            var place = index
            while place > 0, rank(values[place - 1]) > own {
                values.swapAt(place, place - 1)
                place -= 1
            }
        }
    }

    /// Composes voiced kana and Hangul syllables into one scalar each.
    private static func composed(_ values: [UInt32]) -> [UInt32] {
        var result: [UInt32] = []
        for value in values {
            guard let last = result.last, let whole = composed(last, value) else {
                result.append(value)
                continue
            }
            result[result.count - 1] = whole
        }
        return result
    }

    private static func composed(_ first: UInt32, _ second: UInt32) -> UInt32? {
        if (0x1100...0x1112).contains(first), (0x1161...0x1175).contains(second) {
            return 0xAC00 + ((first - 0x1100) * 21 + second - 0x1161) * 28
        }
        if (0xAC00...0xD7A3).contains(first), (first - 0xAC00) % 28 == 0, (0x11A8...0x11C2).contains(second) {
            return first + second - 0x11A7
        }
        guard second == 0x3099 || second == 0x309A else { return nil }
        return voiced[UInt64(first) << 32 | UInt64(second)]
    }

    private static let voiced: [UInt64: UInt32] = {
        let text = String(describing: FoldingTable.voicedKana)
        let scalars = text.unicodeScalars.map(\.value)
        var result: [UInt64: UInt32] = [:]
        for index in stride(from: 0, to: scalars.count - 2, by: 3) {
            result[UInt64(scalars[index]) << 32 | UInt64(scalars[index + 1])] = scalars[index + 2]
        }
        return result
    }()
}

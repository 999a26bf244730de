/// Words of folded text, for the index of words and for searches.
///
/// A word is a run of letters, digits and marks. In scripts without spaces (Han, kana, Thai, Lao, Khmer, Burmese,
/// Tibetan), every letter begins a word of two letters, so that a search finds it anywhere. Words that only punctuation
/// separates are also one word together (`ac/dc`: ac, dc, acdc), and punctuation that stands alone is a word (`!!!`).
enum SearchWords {
    /// Words of one piece of a text; spaces separate pieces.
    struct Piece: Equatable {
        /// Its words, in order.
        var words: [String]
        /// All of them joined, if there are several; nil: there is one.
        var joined: String?
    }

    /// Bytes of a word, at most.
    static let longest = 64

    /// The pieces of folded text.
    static func pieces(_ folded: String) -> [Piece] {
        folded.unicodeScalars.split(separator: " ").map { piece($0) }
    }

    /// The words of folded text for the index, with a space between them.
    static func indexText(_ folded: String) -> String {
        var result = ""
        for piece in pieces(folded) {
            for word in piece.words + (piece.joined.map { [$0] } ?? []) {
                if !result.isEmpty { result += " " }
                result += word
            }
        }
        return result
    }

    private static func piece(_ scalars: Substring.UnicodeScalarView) -> Piece {
        var parts: [[Unicode.Scalar]] = []
        var isOpen = false
        for scalar in scalars {
            guard isWord(scalar) else {
                isOpen = false
                continue
            }
            if isOpen { parts[parts.count - 1].append(scalar) } else { parts.append([scalar]) }
            isOpen = true
        }
        if parts.isEmpty { return Piece(words: [cut(scalars.map(hidden))], joined: nil) }
        let words = parts.flatMap(words)
        return Piece(words: words, joined: parts.count > 1 ? cut(parts.flatMap { $0 }) : nil)
    }

    /// Punctuation as a private-use letter, since the index splits words at ASCII punctuation.
    private static func hidden(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        scalar.value < 0x80 ? Unicode.Scalar(0xE000 + scalar.value) ?? scalar : scalar
    }

    private static func words(_ part: [Unicode.Scalar]) -> [String] {
        guard part.contains(where: isContinuous) else { return [cut(part)] }
        var result: [String] = []
        var spaced: [Unicode.Scalar] = []
        for (index, scalar) in part.enumerated() {
            guard isContinuous(scalar) else {
                spaced.append(scalar)
                continue
            }
            if !spaced.isEmpty { result.append(cut(spaced)) }
            spaced = []
            let next = index + 1 < part.count && isContinuous(part[index + 1]) ? [part[index + 1]] : []
            result.append(cut([scalar] + next))
        }
        if !spaced.isEmpty { result.append(cut(spaced)) }
        return result
    }

    private static func cut(_ scalars: [Unicode.Scalar]) -> String {
        var text = ""
        for scalar in scalars where text.utf8.count + UTF8.width(scalar) <= longest {
            text.unicodeScalars.append(scalar)
        }
        return text
    }

    /// True if the scalar is part of a word.
    static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x80 {
            return (0x61...0x7A).contains(scalar.value) || (0x30...0x39).contains(scalar.value)
        }
        switch scalar.properties.generalCategory {
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
            .finalPunctuation, .otherPunctuation, .mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol,
            .spaceSeparator, .lineSeparator, .paragraphSeparator, .control, .format:
            return false
        default: return true
        }
    }

    /// True if the scalar's script has no spaces between words.
    static func isContinuous(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0E00...0x109F, 0x1780...0x17FF, 0x3005...0x3007, 0x3041...0x30FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
            0xF900...0xFAFF, 0x20000...0x3FFFF:
            true
        default: false
        }
    }
}

/// Makes text from tags, file names, clients and servers safe for a terminal and a log: one line, without control
/// characters, escape sequences, bidirectional overrides and invisible tag characters.
package enum TerminalText {
    /// `text` on one line. Line breaks and tabs become a space, other control characters U+FFFD; marks that reorder or
    /// hide neighbouring text are removed. Joiners and variation selectors stay: scripts and emoji need them.
    package static func safe(_ text: String) -> String {
        guard text.utf8.contains(where: isSuspicious) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch treatment(of: scalar) {
            case .keep: result.append(scalar)
            case .space: result.append(" ")
            case .replace: result.append("\u{FFFD}")
            case .drop: break
            }
        }
        return String(result)
    }

    /// Treatment of one scalar.
    private enum Treatment {
        case keep, space, replace, drop
    }

    /// True for a byte that can begin an unsafe scalar: only texts with one are checked scalar by scalar.
    private static func isSuspicious(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F || byte == 0xC2 || byte == 0xD8 || byte == 0xE2 || byte == 0xEF || byte == 0xF3
    }

    private static func treatment(of scalar: Unicode.Scalar) -> Treatment {
        switch scalar.value {
        case 0x09...0x0D, 0x85, 0x2028, 0x2029: .space
        case 0x00...0x1F, 0x7F...0x9F: .replace
        // Arabic letter mark, direction marks, embeddings, overrides, isolates.
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x206F: .drop
        // Zero width space, word joiner and invisible operators, byte order mark, interlinear annotation, tags.
        case 0x200B, 0x2060...0x2065, 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F: .drop
        default: .keep
        }
    }
}

// MARK: - Width

extension TerminalText {
    /// Columns that `text` takes in a terminal: wide East Asian characters and emoji count two, combining marks none.
    package static func width(of text: String) -> Int {
        var columns = 0
        for character in text { columns += width(of: character) }
        return columns
    }

    /// The beginning of `text` that fits into `columns`, with an ellipsis at the end if it was cut.
    package static func fitted(_ text: String, columns: Int) -> String {
        guard columns > 0 else { return "" }
        guard width(of: text) > columns else { return text }
        var result = ""
        var used = 0
        for character in text {
            let wide = width(of: character)
            if used + wide > columns - 1 { break }
            used += wide
            result.append(character)
        }
        return result + "…"
    }

    private static func width(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.isASCII { return 1 }
        if character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        return wideRanges.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// The blocks of Unicode's EastAsianWidth.txt that are completely wide, and the pictographs.
    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF,
        0x1F900...0x1FAFF, 0x20000...0x3FFFD,
    ]
}

// MARK: - JSON

extension TerminalText {
    /// A JSON text of the same meaning in which every character that `safe` would change is an escape: such characters
    /// occur only inside strings.
    package static func escapedJSON(_ json: String) -> String {
        guard json.utf8.contains(where: isSuspicious) else { return json }
        var result = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            if case .keep = treatment(of: scalar) {
                result.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                result += ("\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits).unicodeScalars
            }
        }
        return String(result)
    }
}

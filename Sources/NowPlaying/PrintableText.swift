/// Makes foreign text (tags, file names, clients) safe for display.
package enum PrintableText {
    /// The text on one line, with control characters, line breaks and bidirectional marks written as `\u{1b}`; cut
    /// after `limit` scalars, with an ellipsis at the end.
    package static func escaped(_ text: String, limit: Int = 1000) -> String {
        var result = ""
        var count = 0
        for scalar in text.unicodeScalars {
            if count == limit { return result + "…" }
            count += 1
            if isHarmless(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                result += "\\u{" + String(scalar.value, radix: 16) + "}"
            }
        }
        return result
    }

    /// The text without these characters, at most `limit` scalars.
    package static func stripped(_ text: String, limit: Int) -> String {
        var result = ""
        for scalar in text.unicodeScalars.lazy.filter(isHarmless).prefix(limit) { result.unicodeScalars.append(scalar) }
        return result
    }

    /// True if a terminal displays this character without any other effect.
    package static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff: false
        default: true
        }
    }
}

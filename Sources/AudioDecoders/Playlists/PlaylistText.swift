import TrackReading

/// Texts of lists, in the variants that programs write.
package enum PlaylistText {
    /// The list as UTF-8, without its byte order mark, if it has one; else unchanged.
    static func normalized(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
        if bytes.starts(with: [0xFF, 0xFE]) { return utf8(bytes) { UInt16($0) | UInt16($1) << 8 } }
        if bytes.starts(with: [0xFE, 0xFF]) { return utf8(bytes) { UInt16($0) << 8 | UInt16($1) } }
        return bytes
    }

    private static func utf8(_ bytes: [UInt8], _ unit: (UInt8, UInt8) -> UInt16) -> [UInt8] {
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map { unit(bytes[$0], bytes[$0 + 1]) }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    /// The lines without their ends (LF, CRLF or CR) and the space around them; without empty lines.
    static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        bytes.withUnsafeBytes { text in
            var start = 0
            while start < text.count {
                var end = start
                while end < text.count, text[end] != UInt8(ascii: "\n"), text[end] != UInt8(ascii: "\r") { end += 1 }
                let next = end + 1
                while start < end, isSpace(text[start]) { start += 1 }
                while start < end, isSpace(text[end - 1]) { end -= 1 }
                if start < end { lines.append(bytes[start..<end]) }
                start = next
            }
        }
        return lines
    }

    /// The line without the space around it.
    static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = line
        while let first = rest.first, isSpace(first) { rest.removeFirst() }
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return rest
    }

    /// True for a blank or a tab, the only space within a line.
    static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// A text for people, with the character sets and limits of tags (`TagText`). Nil: nothing is left.
    static func text(_ bytes: ArraySlice<UInt8>) -> String? { TagText.text(bytes) }

    /// True if the line begins with this word; ignores the case of ASCII letters.
    static func has(_ line: ArraySlice<UInt8>, prefix: StaticString) -> Bool {
        guard line.count >= prefix.utf8CodeUnitCount else { return false }
        return prefix.withUTF8Buffer { word in
            zip(word, line).allSatisfy { upper($0) == upper($1) }
        }
    }

    /// The ASCII letter in upper case.
    static func upper(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "a") < 26 ? byte & 0xDF : byte }

    /// The seconds of a number; nil: no number, or one of at most 0, by which programs mark an unknown duration.
    static func seconds(_ digits: ArraySlice<UInt8>) -> Double? {
        guard digits.count <= 20, let value = Double(String(decoding: digits, as: UTF8.self)), value.isFinite,
            value > 0,
            value < 1e9
        else { return nil }
        return value
    }
}

/// The spelling of a text beside its folded text in the database. Most texts of music equal their folded text with a
/// capital at the start of each word; their mark is empty. The mark of any other text is the text itself.
enum SpellingMark {
    /// The text of a row of `ordered`, in SQL.
    static let sql = "iif(spelling = '', capitalized(folded), spelling)"

    /// The mark of a text with this folded text.
    static func mark(_ text: String, _ folded: String) -> String {
        // In texts without a letter, such as dates, both are the same; they are compared directly.
        Spelling(text) != Spelling(folded) && Spelling(text) == Spelling(capitalized(folded)) ? "" : text
    }

    /// The text of a mark.
    static func text(_ mark: String, _ folded: String) -> String { mark.isEmpty ? capitalized(folded) : mark }

    /// A folded text with capitals at the starts of its words, in ASCII only.
    static func capitalized(_ folded: String) -> String {
        var folded = folded
        return folded.withUTF8 { bytes in
            String(unsafeUninitializedCapacity: bytes.count) { target in
                var isInWord = false
                for (index, byte) in bytes.enumerated() {
                    let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    target[index] = isLetter && !isInWord ? byte & 0xDF : byte
                    isInWord = isLetter || byte >= 0x80 || byte == UInt8(ascii: "'") || isDigit(byte)
                }
                return bytes.count
            }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

extension SQLiteStatement {
    /// The text of a row of `ordered` by its columns `spelling` and `folded`.
    func text(spelling: Int32, folded: Int32) -> String {
        isEmpty(spelling) ? SpellingMark.capitalized(text(folded)) : text(spelling)
    }
}

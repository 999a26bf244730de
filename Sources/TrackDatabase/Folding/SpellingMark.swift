/// The part of a text that stands beside its folded text in the database. Most texts of music are their folded text with a
/// capital at the beginning of each word; of these it is empty, and of all others it is the text itself.
enum SpellingMark {
    /// The text of a row of `ordered`, in SQL.
    static let sql = "iif(spelling = '', capitalized(folded), spelling)"

    /// The mark of a text, whose folded text is given.
    static func mark(_ text: String, _ folded: String) -> String {
        // Without a letter to change both are the same; such texts, as dates, can be compared as they stand.
        Spelling(text) != Spelling(folded) && Spelling(text) == Spelling(capitalized(folded)) ? "" : text
    }

    /// The text that has this mark.
    static func text(_ mark: String, _ folded: String) -> String { mark.isEmpty ? capitalized(folded) : mark }

    /// A folded text with capitals at the beginnings of its words, those of ASCII alone.
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

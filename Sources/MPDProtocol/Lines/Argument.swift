/// One argument of a request, in bytes: a file name need not be UTF-8.
package struct Argument: Hashable, Sendable {
    package let bytes: [UInt8]

    /// An argument of these bytes.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// An argument of a text.
    package init(_ text: String) { bytes = Array(text.utf8) }

    /// The argument as text, with U+FFFD for bytes that are not UTF-8.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// True if the argument is this word, regardless of case.
    package func isWord(_ word: String) -> Bool {
        bytes.count == word.utf8.count && zip(bytes, word.utf8).allSatisfy { ASCII.lower($0) == ASCII.lower($1) }
    }
}

/// Bytes of US-ASCII.
enum ASCII {
    /// The small letter of a capital letter; other bytes unchanged.
    static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// True for a space and every control character: MPD treats all of them as white space.
    static func isSpace(_ byte: UInt8) -> Bool { byte <= 0x20 }

    /// True for a to z.
    static func isSmallLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

    /// True for a letter.
    static func isLetter(_ byte: UInt8) -> Bool { isSmallLetter(lower(byte)) }

    /// True for 0 to 9.
    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

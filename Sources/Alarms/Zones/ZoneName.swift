/// Name of a zone in the system's tzdata, such as `Europe/Berlin`: a relative path that leads nowhere else.
package struct ZoneName: Hashable, Sendable {
    /// The name, in ASCII.
    package let text: String

    /// Maximum bytes of a name.
    private static let longest = 64

    /// Reads a name. Throws if no zone can have it.
    package init(_ text: String) throws(TextMistake) {
        guard Self.isValid(text) else { throw TextMistake("zone", text, "a name such as Europe/Berlin") }
        self.text = text
    }

    /// The zone of the file to which `/etc/localtime` links; nil: the file lies outside a folder `zoneinfo`.
    package init?(linkTarget: String) {
        let parts = linkTarget.split(separator: "/", omittingEmptySubsequences: false)
        guard let folder = parts.lastIndex(of: "zoneinfo") else { return nil }
        let name = parts[(folder + 1)...].joined(separator: "/")
        guard Self.isValid(name) else { return nil }
        text = name
    }

    private static func isValid(_ text: String) -> Bool {
        guard text.utf8.count <= longest else { return false }
        return text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
            guard let first = part.utf8.first, isLetter(first) else { return false }
            return part.utf8.allSatisfy { byte in
                isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
            }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

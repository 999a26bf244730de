/// A title of a radio stream (SHOUTcast, Icecast), from the text between the audio: artist, title and picture, without the
/// markup of vendors. Bytes of any encoding; what a server sends is taken for hostile.
package struct StreamTitle: Equatable, Sendable {
    package private(set) var artist: [UInt8]?
    /// Nil: the station names no title now.
    package private(set) var title: [UInt8]?
    /// Address of a picture.
    package private(set) var artwork: [UInt8]?

    /// Reads a text such as `StreamTitle='Artist - Title';StreamUrl='…';`.
    package init(_ text: [UInt8]) {
        artwork = Self.field("StreamUrl", in: text).flatMap { Self.isPicture($0) ? $0 : nil }
        guard let value = Self.field("StreamTitle", in: text).map(Self.decodingEntities) else { return }
        if let spot = Self.spot(value) {
            (artist, title) = (spot.artist, spot.title)
            artwork = artwork ?? spot.artwork
        } else {
            (artist, title) = Self.split(value)
        }
    }

    // MARK: Fields

    /// The value of a field. It may contain quotes; its closing quote, or both, may be missing.
    static func field(_ name: String, in text: [UInt8]) -> [UInt8]? {
        guard let start = index(of: Array((name + "=").utf8), in: text[...]) else { return nil }
        var rest = text[(start + name.utf8.count + 1)...]
        guard let quote = rest.first, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") else {
            return Array(rest.prefix { $0 != UInt8(ascii: ";") && $0 != 0 })
        }
        rest = rest.dropFirst()
        let closing = [quote, UInt8(ascii: ";")]
        var candidate: Int?
        var place = rest.startIndex
        while let end = index(of: closing, in: rest[place...]) {
            candidate = candidate ?? end
            if begins(field: rest[(end + 2)...]) { return Array(rest[..<end]) }
            place = end + 2
        }
        if let candidate { return Array(rest[..<candidate]) }
        var value = rest.prefix { $0 != 0 }
        if value.last == UInt8(ascii: ";") { value.removeLast() }
        return Array(value.last == quote ? value.dropLast() : value)
    }

    /// True at the end of the text, and where another field begins.
    private static func begins(field text: ArraySlice<UInt8>) -> Bool {
        let text = text.drop { $0 == UInt8(ascii: " ") }
        guard let first = text.first, first != 0 else { return true }
        let name = text.prefix { isLetter($0) }
        return !name.isEmpty && text[name.endIndex...].first == UInt8(ascii: "=")
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func index(of wanted: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
        guard text.count >= wanted.count else { return nil }
        return (text.startIndex...(text.endIndex - wanted.count)).first { text[$0...].starts(with: wanted) }
    }

    // MARK: Artist and title

    /// Splits `artist - title`. Separators without text on both sides are dropped.
    private static func split(_ value: [UInt8]) -> (artist: [UInt8]?, title: [UInt8]?) {
        let value = trimmed(value[...])
        guard let middle = index(of: Array(" - ".utf8), in: value) else {
            let text = trimmed(withoutDashes(value))
            return (nil, text.isEmpty ? nil : Array(text))
        }
        let artist = trimmed(withoutDashes(value[..<middle]))
        let title = trimmed(withoutDashes(value[(middle + 3)...]))
        if artist.isEmpty || title.isEmpty {
            let text = artist.isEmpty ? title : artist
            return (nil, text.isEmpty ? nil : Array(text))
        }
        return (Array(artist), Array(title))
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text.drop { $0 <= 0x20 }
        while let last = text.last, last <= 0x20 { text.removeLast() }
        return text
    }

    /// The text without a dash that stands alone at its beginning or end.
    private static func withoutDashes(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let dash = UInt8(ascii: "-")
        var text = trimmed(text)
        while text.first == dash, text.count == 1 || text[text.startIndex + 1] == 0x20 {
            text = trimmed(text.dropFirst())
        }
        while text.last == dash, text.count == 1 || text[text.endIndex - 2] == 0x20 { text = trimmed(text.dropLast()) }
        return text
    }

    // MARK: Markup of vendors

    /// Artist, title and picture of `Artist - text="Title" song_spot="M" …` or `title="…",artist="…"`; nil: no such markup.
    private static func spot(_ value: [UInt8]) -> (artist: [UInt8]?, title: [UInt8]?, artwork: [UInt8]?)? {
        let picture = ["amgArtworkURL", "imageUrl"].lazy.compactMap { attribute($0, in: value) }.first { isPicture($0) }
        if value.starts(with: Array("title=\"".utf8)), let title = attribute("title", in: value) {
            return (filled(attribute("artist", in: value)), filled(title), picture)
        }
        guard attribute("song_spot", in: value) != nil || attribute("spotInstanceId", in: value) != nil,
            let place = index(of: Array("text=\"".utf8), in: value[...]), let title = attribute("text", in: value)
        else { return nil }
        let artist = split(Array(value[..<place]) + Array("-".utf8)).title
        return (artist, filled(title), picture)
    }

    private static func filled(_ text: [UInt8]?) -> [UInt8]? {
        guard let text = text.map({ trimmed($0[...]) }), !text.isEmpty else { return nil }
        return Array(text)
    }

    /// The value of `name="…"`. A backslash before its opening quote belongs to the quote.
    private static func attribute(_ name: String, in value: [UInt8]) -> [UInt8]? {
        for opening in [name + "=\"", name + "=\\\""] {
            guard let start = index(of: Array(opening.utf8), in: value[...]) else { continue }
            let rest = value[(start + opening.utf8.count)...]
            let text = rest.prefix { $0 != UInt8(ascii: "\"") }
            return Array(text.last == UInt8(ascii: "\\") ? text.dropLast() : text)
        }
        return nil
    }

    /// True if an address is a picture: many stations put their homepage there.
    private static func isPicture(_ address: [UInt8]) -> Bool {
        guard address.count <= WireTag.maximumBytes else { return false }
        let text = String(decoding: address, as: UTF8.self).lowercased()
        guard text.hasPrefix("http://") || text.hasPrefix("https://") else { return false }
        let path = text.prefix { $0 != "?" && $0 != "#" }
        return [".jpg", ".jpeg", ".png", ".webp", ".avif", ".gif"].contains { path.hasSuffix($0) }
    }

    // MARK: Entities

    private static let named: [String: UInt32] = [
        "amp": 0x26, "lt": 0x3C, "gt": 0x3E, "quot": 0x22, "apos": 0x27, "nbsp": 0x20, "ndash": 0x2013,
        "mdash": 0x2014, "lsquo": 0x2018, "rsquo": 0x2019, "ldquo": 0x201C, "rdquo": 0x201D, "hellip": 0x2026,
    ]

    /// Decodes entities of HTML. In a text that is not UTF-8, only those of ASCII.
    private static func decodingEntities(_ text: [UInt8]) -> [UInt8] {
        guard text.contains(UInt8(ascii: "&")) else { return text }
        let isUTF8 = String(validating: text, as: UTF8.self) != nil
        var result: [UInt8] = []
        var rest = text[...]
        while let byte = rest.first {
            rest = rest.dropFirst()
            let name = rest.prefix(8).prefix { $0 != UInt8(ascii: ";") }
            guard byte == UInt8(ascii: "&"), rest[name.endIndex...].first == UInt8(ascii: ";"),
                let scalar = Self.scalar(String(decoding: name, as: UTF8.self)), isUTF8 || scalar.isASCII
            else {
                result.append(byte)
                continue
            }
            result += Array(String(Character(scalar)).utf8)
            rest = rest[(name.endIndex + 1)...]
        }
        return result
    }

    private static func scalar(_ name: String) -> Unicode.Scalar? {
        if let value = named[name] { return Unicode.Scalar(value) }
        guard name.hasPrefix("#") else { return nil }
        let digits = name.dropFirst()
        let value = digits.lowercased().hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return value.flatMap { $0 >= 0x20 ? Unicode.Scalar($0) : nil }
    }
}

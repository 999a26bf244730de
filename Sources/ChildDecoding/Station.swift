/// Description of a radio station by its server.
package struct Station {
    package var name: String?
    package var genre: String?
    package var homepage: String?
    package var artwork: String?
    /// Bits a second; 0: unknown.
    package var bitRate = 0
    /// The server's content type, in lower case.
    package var contentType = ""

    /// A station without properties.
    package init() {}

    /// Reads the head of an answer.
    package init(_ head: HTTPFields) {
        name = Self.text(head["icy-name"])
        genre = Self.text(head["icy-genre"])
        homepage = Self.text(head["icy-url"])
        artwork = Self.text(head["icy-logo"])
        let rate = head["icy-br"]?.prefix { $0.isNumber }
        bitRate = min(Int(rate ?? "") ?? 0, 100_000) * 1000
        contentType = head.contentType
    }

    private static func text(_ value: String?) -> String? {
        guard let value, !value.isEmpty, value != "-" else { return nil }
        return value
    }

    /// The description as tags of the item.
    package var tags: [WireTag] {
        [("STATION", name), ("GENRE", genre), ("STATIONURL", homepage), ("ARTWORK", artwork)].compactMap {
            name, value in
            value.map { WireTag(name, $0.utf8) }
        }
    }

    /// A title of the stream as tags; it splits `artist - title`.
    package static func tags(title text: [UInt8]) -> [WireTag] {
        let picture = IcyFilter.field("StreamUrl", in: text).flatMap { isPicture($0) ? WireTag("ARTWORK", $0) : nil }
        guard let whole = IcyFilter.field("StreamTitle", in: text), !whole.isEmpty else { return [] }
        let separator = Array(" - ".utf8)
        let index = whole.indices.first { whole[$0...].starts(with: separator) }
        let more = picture.map { [$0] } ?? []
        guard let index, index > 0, index + 3 < whole.count else { return [WireTag("TITLE", whole)] + more }
        return [WireTag("ARTIST", whole[..<index]), WireTag("TITLE", whole[(index + 3)...])] + more
    }

    /// True if the address in a title text is a picture: many stations put their homepage there.
    private static func isPicture(_ address: [UInt8]) -> Bool {
        guard address.count <= WireTag.maximumBytes else { return false }
        let text = String(decoding: address, as: UTF8.self).lowercased()
        guard text.hasPrefix("http://") || text.hasPrefix("https://") else { return false }
        let path = text.prefix { $0 != "?" && $0 != "#" }
        return [".jpg", ".jpeg", ".png", ".webp", ".avif", ".gif"].contains { path.hasSuffix($0) }
    }
}

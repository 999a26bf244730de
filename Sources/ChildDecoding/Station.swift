/// Description of a radio station by its server.
package struct Station {
    /// Name and genre, in the server's encoding.
    package private(set) var name: [UInt8]?
    package private(set) var genre: [UInt8]?
    package private(set) var homepage: String?
    package private(set) var artwork: String?
    /// Bits a second; 0: unknown.
    package private(set) var bitRate = 0
    /// The server's content type, in lower case.
    package private(set) var contentType = ""

    /// A station without properties.
    package init() {}

    /// Reads the head of an answer.
    package init(_ head: HTTPFields) {
        name =
            ["icy-name", "ice-name", "x-audiocast-name", "icy-description", "ice-description"].lazy
            .compactMap { Self.text(head.bytes($0)) }.first
        genre = Self.text(head.bytes("icy-genre"))
        homepage = Self.text(head.bytes("icy-url")).map { String(decoding: $0, as: UTF8.self) }
        artwork = Self.text(head.bytes("icy-logo")).map { String(decoding: $0, as: UTF8.self) }
        let rate = head["icy-br"]?.prefix { $0.isNumber }
        bitRate = min(Int(rate ?? "") ?? 0, 100_000) * 1000
        contentType = head.contentType
    }

    /// Names the station as a playlist does, unless its server names it.
    package mutating func name(byList title: String?) {
        if name == nil { name = Self.text(title.map { Array($0.utf8) }) }
    }

    private static func text(_ value: [UInt8]?) -> [UInt8]? {
        guard let value, value.contains(where: { $0 > 0x20 && $0 != UInt8(ascii: "-") }) else { return nil }
        return value
    }

    /// The description as tags of the item.
    package var tags: [WireTag] {
        [
            ("STATION", name), ("GENRE", genre), ("STATIONURL", homepage.map { Array($0.utf8) }),
            ("ARTWORK", artwork.map { Array($0.utf8) }),
        ].compactMap { name, value in value.map { WireTag(name, $0) } }
    }

    /// A title of the stream as tags.
    package static func tags(title text: [UInt8]) -> [WireTag] {
        let title = StreamTitle(text)
        return [("ARTIST", title.artist), ("TITLE", title.title), ("ARTWORK", title.artwork)].compactMap {
            name, value in value.map { WireTag(name, $0) }
        }
    }
}

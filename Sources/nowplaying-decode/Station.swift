import ForeignMedia

/// What the server of a radio station says about it.
struct Station {
    var name: String?
    var genre: String?
    var homepage: String?
    var artwork: String?
    /// Bits a second; 0: not known.
    var bitRate = 0
    /// The type of the content as the server tells it, in small letters.
    var contentType = ""

    /// Nothing known.
    init() {}

    /// What the head of an answer says.
    init(_ transfer: HTTPTransfer) {
        name = Self.text(transfer.header("icy-name"))
        genre = Self.text(transfer.header("icy-genre"))
        homepage = Self.text(transfer.header("icy-url"))
        artwork = Self.text(transfer.header("icy-logo"))
        let rate = transfer.header("icy-br")?.prefix { $0.isNumber }
        bitRate = min(Int(rate ?? "") ?? 0, 100_000) * 1000
        contentType = (transfer.header("content-type") ?? "").prefix { $0 != ";" }.lowercased().filter { $0 != " " }
    }

    private static func text(_ value: String?) -> String? {
        guard let value, !value.isEmpty, value != "-" else { return nil }
        return value
    }

    /// As fields of the item.
    var tags: [WireTag] {
        [("STATION", name), ("GENRE", genre), ("STATIONURL", homepage), ("ARTWORK", artwork)].compactMap {
            name, value in
            value.map { WireTag(name, $0.utf8) }
        }
    }

    /// A title that came with the stream, as fields: `artist - title` is taken apart.
    static func tags(title text: [UInt8]) -> [WireTag] {
        let picture = IcyFilter.field("StreamUrl", in: text).flatMap { isPicture($0) ? WireTag("ARTWORK", $0) : nil }
        guard let whole = IcyFilter.field("StreamTitle", in: text), !whole.isEmpty else { return [] }
        let separator = Array(" - ".utf8)
        let place = whole.indices.first { whole[$0...].starts(with: separator) }
        let more = picture.map { [$0] } ?? []
        guard let place, place > 0, place + 3 < whole.count else { return [WireTag("TITLE", whole)] + more }
        return [WireTag("ARTIST", whole[..<place]), WireTag("TITLE", whole[(place + 3)...])] + more
    }

    /// Whether an address that comes with a title is that of a picture: many stations put their homepage there.
    private static func isPicture(_ address: [UInt8]) -> Bool {
        guard address.count <= WireTag.maximumBytes else { return false }
        let text = String(decoding: address, as: UTF8.self).lowercased()
        guard text.hasPrefix("http://") || text.hasPrefix("https://") else { return false }
        let path = text.prefix { $0 != "?" && $0 != "#" }
        return [".jpg", ".jpeg", ".png", ".webp", ".avif", ".gif"].contains { path.hasSuffix($0) }
    }
}

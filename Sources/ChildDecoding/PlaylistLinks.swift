import NowPlaying

/// The playlists that radio stations give instead of a stream: M3U, PLS, XSPF, ASX, and bare addresses.
package enum PlaylistLinks: Equatable, Sendable {
    /// Links to streams, unchanged, in order.
    case links([String])
    /// A playlist of HLS (RFC 8216), which is a stream itself.
    case segments

    /// Maximum bytes of a playlist.
    package static let maximumBytes = 64 << 10
    private static let maximumLinks = 32

    /// Reads the links; nil: not a playlist. `isAnnounced`: the server announces a playlist, so that any lines may be links.
    /// `mayBeBare`: text that has only comments and whole addresses, one a line, is a playlist, too; its end may be cut.
    package init?(_ bytes: [UInt8], isAnnounced: Bool, mayBeBare: Bool = false) {
        let text = Self.decoded(bytes)
        let lines = text.split { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }.map(Self.trimmed).filter { !$0.isEmpty }
        guard let first = lines.first else { return nil }
        let hasMark = first.hasPrefix("#EXTM3U")
        // Some lists begin with comments.
        let head = lines.first { !Self.isComment($0) }?.lowercased() ?? ""
        let links: [String]
        if head == "[playlist]" {
            links = lines.compactMap { Self.pointed($0, by: "file") }
        } else if head == "[reference]" {
            links = lines.compactMap { Self.pointed($0, by: "ref") }
        } else if head.hasPrefix("<"), text.holds("http://xspf.org/ns/0/") {
            links = Self.locations(text)
        } else if head.hasPrefix("<asx") || head.hasPrefix("<?xml"), let found = Self.references(text) {
            links = found
        } else if hasMark || isAnnounced {
            if lines.contains(where: { $0.hasPrefix("#EXT-X-") }) {
                self = .segments
                return
            }
            links = lines.filter { !Self.isComment($0) }.map(String.init)
        } else if mayBeBare, let found = Self.addresses(lines) {
            links = found
        } else {
            return nil
        }
        self = .links(Array(links.prefix(Self.maximumLinks)))
    }

    /// The text of a playlist: UTF-16 by its byte order mark, else UTF-8.
    private static func decoded(_ bytes: [UInt8]) -> String {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return String(decoding: bytes[3...], as: UTF8.self) }
        guard bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) else {
            return String(decoding: bytes, as: UTF8.self)
        }
        let (high, low) = bytes[0] == 0xFE ? (0, 1) : (1, 0)
        var units: [UInt16] = []
        for index in stride(from: 2, to: bytes.count - 1, by: 2) {
            units.append(UInt16(bytes[index + high]) << 8 | UInt16(bytes[index + low]))
        }
        return String(decoding: units, as: UTF16.self)
    }

    private static func isComment(_ line: Substring) -> Bool { line.hasPrefix("#") || line.hasPrefix(";") }

    /// The lines if all are whole addresses or comments; nil: another line is among them, or no address.
    private static func addresses(_ lines: [Substring]) -> [String]? {
        let links = lines.filter { !isComment($0) }
        let areAddresses = links.allSatisfy { link in
            let start = link.prefix(8).lowercased()
            return (start.hasPrefix("http://") || start == "https://")
                && link.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "<") }
        }
        return areAddresses && !links.isEmpty ? links.map(String.init) : nil
    }

    /// The links of elements `<ref href="http://…"/>` of an ASX, whose writers take no care of case and quotes. Nil: the text
    /// is none.
    private static func references(_ text: String) -> [String]? {
        let lower = text.lowercased()
        // Lower case changes the length of few letters, which no address has.
        guard lower.utf8.count == text.utf8.count, lower.place(of: "<asx") != nil else { return nil }
        let (bytes, small) = (Array(text.utf8), Array(lower.utf8))
        var found: [String] = []
        var index = 0
        while let start = place(of: "<ref", in: small, from: index) {
            index = start + 4
            let end = small[index...].firstIndex(of: UInt8(ascii: ">")) ?? small.count
            guard index < end, isSpace(small[index]), let name = place(of: "href", in: small, from: index), name < end
            else { continue }
            var value = bytes[(name + 4)..<end].drop(while: isSpace)
            guard value.first == UInt8(ascii: "=") else { continue }
            value = value.dropFirst().drop(while: isSpace)
            let quote = value.first
            if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                value = value.dropFirst().prefix { $0 != quote }
            } else {
                // The slash that ends an empty element is no part of the address.
                value = value.prefix { !isSpace($0) }
                if value.last == UInt8(ascii: "/"), value.endIndex == end { value = value.dropLast() }
            }
            let link = unescaped(String(trimmed(Substring(String(decoding: value, as: UTF8.self)))))
            if !link.isEmpty { found.append(link) }
            index = end
        }
        return found
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func place(of word: StaticString, in text: [UInt8], from start: Int) -> Int? {
        let count = word.utf8CodeUnitCount
        guard text.count >= count, start <= text.count - count else { return nil }
        return word.withUTF8Buffer { word in
            (start...(text.count - count)).first { text[$0] == word[0] && text[$0..<($0 + count)].elementsEqual(word) }
        }
    }

    /// True if a body of this content type may be a playlist that its server does not announce.
    package static func isPossible(for contentType: String) -> Bool {
        contentType.isEmpty || contentType.hasPrefix("text/") || contentType.hasPrefix("application/octet")
            || contentType.hasPrefix("video/x-ms-") || contentType.hasPrefix("audio/x-ms-w")
            || contentType.hasPrefix("application/x-ms-")
    }

    /// Title of the first link, as the playlist states it; nil: it does not.
    package static func title(_ bytes: [UInt8]) -> String? {
        for line in decoded(bytes).split(whereSeparator: \.isNewline).map(Self.trimmed) {
            if line.hasPrefix("#EXTINF"), let comma = line.firstIndex(of: ",") {
                return filled(line[line.index(after: comma)...])
            }
            if line.lowercased().hasPrefix("title1="), let equals = line.firstIndex(of: "=") {
                return filled(line[line.index(after: equals)...])
            }
            if let start = line.place(of: "<title>"), let end = line[start.upperBound...].firstIndex(of: "<") {
                return filled(line[start.upperBound..<end])
            }
        }
        return nil
    }

    private static func filled(_ text: Substring) -> String? {
        let text = trimmed(text)
        return text.isEmpty ? nil : String(text)
    }

    /// True if the server's content type is that of such a playlist.
    package static func isAnnounced(by contentType: String) -> Bool {
        let type = contentType.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        return [
            "audio/x-mpegurl", "audio/mpegurl", "application/x-mpegurl", "application/vnd.apple.mpegurl",
            "application/mpegurl", "audio/x-scpls", "audio/scpls", "application/pls+xml", "application/pls",
            "application/xspf+xml",
        ].contains(type)
    }

    /// The link of a line such as `File1=http://…`.
    private static func pointed(_ line: Substring, by name: String) -> String? {
        guard let equals = line.firstIndex(of: "="), line[..<equals].lowercased().hasPrefix(name) else { return nil }
        return String(trimmed(line[line.index(after: equals)...]))
    }

    /// The links of elements `<location>http://…</location>` of an XSPF. Addresses contain no markup except escaped
    /// characters.
    private static func locations(_ text: String) -> [String] {
        var (found, rest): ([String], Substring) = ([], text[...])
        while let start = rest.place(of: "<location>") {
            rest = rest[start.upperBound...]
            guard let end = rest.firstIndex(of: "<"), rest[end...].hasPrefix("</location>") else { continue }
            var link = String(trimmed(rest[..<end].drop(while: \.isWhitespace)))
            while link.last?.isWhitespace == true { link.removeLast() }
            found.append(unescaped(link))
        }
        return found
    }

    private static func unescaped(_ text: String) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")].reduce(text) {
            $0.replacing(each: $1.0, by: $1.1)
        }
    }

    private static func trimmed(_ line: Substring) -> Substring {
        var line = line
        while let last = line.last, last == " " || last == "\t" || last == "\0" { line.removeLast() }
        return line.drop { $0 == " " || $0 == "\t" }
    }
}

import NowPlaying

/// The playlists that radio stations give instead of a stream: M3U, PLS and XSPF.
package enum PlaylistLinks: Equatable, Sendable {
    /// Links to streams, unchanged, in order.
    case links([String])
    /// A playlist of HLS (RFC 8216), which is a stream itself.
    case segments

    /// Maximum bytes of a playlist.
    package static let maximumBytes = 64 << 10
    private static let maximumLinks = 32

    /// Reads the links; nil: not a playlist. `isAnnounced`: the server announces a playlist, so that it may be a
    /// bare list of links.
    package init?(_ bytes: [UInt8], isAnnounced: Bool) {
        let text = String(decoding: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...], as: UTF8.self)
        let lines = text.split { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }.map(Self.trimmed)
        guard let first = lines.first(where: { !$0.isEmpty }) else { return nil }
        let links: [String]
        if first.lowercased() == "[playlist]" {
            links = lines.compactMap(Self.pointed)
        } else if first.hasPrefix("<"), text.holds("http://xspf.org/ns/0/") {
            links = Self.locations(text)
        } else if first.hasPrefix("#EXTM3U") || isAnnounced {
            if lines.contains(where: { $0.hasPrefix("#EXT-X-") }) {
                self = .segments
                return
            }
            links = lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }.map(String.init)
        } else {
            return nil
        }
        self = .links(Array(links.prefix(Self.maximumLinks)))
    }

    /// Title of the first link, as the playlist states it; nil: it does not.
    package static func title(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        for line in text.split(whereSeparator: \.isNewline).map(Self.trimmed) {
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

    /// The link of a line `File1=http://…` of a PLS.
    private static func pointed(_ line: Substring) -> String? {
        guard let equals = line.firstIndex(of: "="), line[..<equals].lowercased().hasPrefix("file") else { return nil }
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
            for (escape, character) in [
                ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&"),
            ] {
                link = link.replacing(each: escape, by: character)
            }
            found.append(link)
        }
        return found
    }

    private static func trimmed(_ line: Substring) -> Substring {
        var line = line
        while let last = line.last, last == " " || last == "\t" || last == "\0" { line.removeLast() }
        return line.drop { $0 == " " || $0 == "\t" }
    }
}

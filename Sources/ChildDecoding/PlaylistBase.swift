import NowPlaying

/// Relative links of a playlist of HLS, made whole: they are relative to the address where the playlist was found, which is
/// another than the one that was asked for where a server redirects (RFC 8216 §4.1).
package enum PlaylistBase {
    /// The playlist with each relative link replaced by the result of `resolve`; nil from `resolve` leaves the link
    /// unchanged. Links with a scheme stay. Links are lines without `#`, and the values of `URI` in tags.
    package static func resolved(_ bytes: [UInt8], _ resolve: (String) -> String?) -> [UInt8] {
        let lines = String(decoding: bytes, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let whole = lines.map { line -> String in
            guard line.hasPrefix("#") else {
                return line.allSatisfy(\.isWhitespace) ? String(line) : link(String(line), resolve)
            }
            guard line.hasPrefix("#EXT-X-"), let name = line.place(of: "URI=\"") else { return String(line) }
            let rest = line[name.upperBound...]
            guard let end = rest.firstIndex(of: "\"") else { return String(line) }
            return line[..<name.upperBound] + link(String(rest[..<end]), resolve) + rest[end...]
        }
        return Array(whole.joined(separator: "\n").utf8)
    }

    private static func link(_ text: String, _ resolve: (String) -> String?) -> String {
        hasScheme(text) ? text : resolve(text) ?? text
    }

    /// True if an address begins with a scheme (RFC 3986 §3.1).
    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), let first = text.utf8.first else { return false }
        func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
        return isLetter(first)
            && text.utf8[..<colon].allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
    }
}

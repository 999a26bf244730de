/// The path below which the bridge serves all of its paths: `base-path` of `[web]`.
package struct BasePath: Equatable, Sendable {
    /// The parts between the slashes; empty: the bridge has the whole host.
    package let parts: [String]

    /// The whole host.
    package static let root = BasePath()

    /// Most bytes of a base path.
    package static let maximumBytes = 128

    private init() { parts = [] }

    /// Reads `/music`, `/home/music`, with or without a slash at the end, and `/`; nil: the text is none of these. Each part has
    /// letters, digits and `-._~` alone, which mean the same in an address, a cookie and the settings of a proxy (RFC 3986,
    /// section 2.3).
    package init?(_ text: String) {
        guard text.hasPrefix("/"), text.utf8.count <= Self.maximumBytes else { return nil }
        var rest = text.dropFirst()
        if rest.hasSuffix("/") { rest.removeLast() }
        guard !rest.isEmpty else {
            guard text == "/" else { return nil }
            parts = []
            return
        }
        let parts = rest.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.allSatisfy(Self.isPart) else { return nil }
        self.parts = parts
    }

    private static func isPart(_ part: String) -> Bool {
        guard !part.isEmpty, part != ".", part != ".." else { return false }
        return part.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            case _: "-._~".utf8.contains(byte)
            }
        }
    }

    /// The path of the page, with a slash at both ends.
    package var folder: String { parts.isEmpty ? "/" : "/" + parts.joined(separator: "/") + "/" }

    /// The path of a cookie. Without the slash at its end, it covers the path itself and all below (RFC 6265, section 5.1.4).
    package var cookiePath: String { "/" + parts.joined(separator: "/") }
}

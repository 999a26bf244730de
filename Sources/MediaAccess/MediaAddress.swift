package import LinuxSystem
import NowPlaying

/// Kind and target of a uri, by its text alone.
package enum MediaAddress: Equatable, Sendable {
    /// An absolute path of this host.
    case path(FilePath)
    /// A track of the cue sheet that is at, or inside, the file at this absolute path.
    case track(FilePath, number: Int)
    /// A stream or file on the network: its whole address, and the address for display, without user name and password.
    case remote(address: String, shown: String)
    /// It cannot be played; the text has the reason and follows the uri.
    case unplayable(String)

    /// Accepts an absolute path unchanged, and a `file:` uri by RFC 8089: no host or `localhost`, percent-decoded to
    /// the bytes of the path, which need not be UTF-8.
    package init(_ uri: String) {
        if uri.utf8.first == UInt8(ascii: "/") {
            self = Self.checked(Array(uri.utf8))
            return
        }
        guard let colon = uri.firstIndex(of: ":") else {
            self = .unplayable("is neither an absolute path nor a uri")
            return
        }
        let rest = uri[uri.index(after: colon)...]
        switch uri[..<colon].lowercased() {
        case "file": self = Self.file(rest)
        case "http", "https": self = Self.remote(uri)
        default: self = .unplayable("is neither an absolute path nor a uri of file, http or https")
        }
    }

    /// Maximum bytes of a network address.
    private static let maximumBytes = 4096

    /// Parses a network address; the part between `//` and the last `@` before the path is the user (RFC 3986 §3.2.1).
    private static func remote(_ uri: String) -> MediaAddress {
        guard uri.utf8.count <= maximumBytes else { return .unplayable("is longer than \(maximumBytes) bytes") }
        guard uri.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            return .unplayable("has spaces or control characters in it: write them as %20")
        }
        guard let colon = uri.firstIndex(of: ":"), uri[uri.index(after: colon)...].hasPrefix("//") else {
            return .unplayable("names no host")
        }
        let start = uri.index(colon, offsetBy: 3)
        let end = uri[start...].firstIndex { "/?#\\".contains($0) } ?? uri.endIndex
        let host = uri[start..<end].lastIndex(of: "@").map { uri.index(after: $0) } ?? start
        guard host < end, uri[host] != ":" else { return .unplayable("names no host") }
        return .remote(address: uri, shown: String(uri[..<start] + uri[host...]))
    }

    private static func file(_ rest: Substring) -> MediaAddress {
        var path = rest
        if rest.hasPrefix("//") {
            path = rest.dropFirst(2)
            let slash = path.firstIndex(of: "/") ?? path.endIndex
            let host = path[..<slash].lowercased()
            guard host.isEmpty || host == "localhost" else { return .unplayable("is on another host") }
            path = path[slash...]
        }
        guard path.utf8.first == UInt8(ascii: "/") else { return .unplayable("has no absolute path") }
        let (name, track) = Self.fragment(path)
        let (decoded, isWhole) = PercentCoding.decoded(name.utf8)
        guard isWhole else { return .unplayable("has an invalid percent encoding") }
        guard let track, case .path(let sheet) = checked(decoded) else { return checked(decoded) }
        return .track(sheet, number: track)
    }

    /// Splits `#track=3` from the name. Any other `#` is part of the name, because many programs write it without an
    /// escape.
    private static func fragment(_ path: Substring) -> (name: Substring, track: Int?) {
        guard let mark = path.lastIndex(of: "#"), path[mark...].hasPrefix("#track=") else { return (path, nil) }
        let digits = path[mark...].dropFirst(7)
        guard !digits.isEmpty, digits.utf8.count <= 9, digits.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else {
            return (path, nil)
        }
        return (path[..<mark], Int(digits))
    }

    private static func checked(_ path: [UInt8]) -> MediaAddress {
        FilePath(path).map { .path($0) } ?? .unplayable("has a zero byte in its path")
    }
}

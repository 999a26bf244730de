package import AudioDecoders
package import LinuxSystem
import NowPlaying
import TrackReading

/// Possible target of a playlist entry's location.
package enum PlaylistReference: Equatable {
    /// A uri with a scheme.
    case uri(String)
    /// Paths to try in this order: only the file system shows the right one.
    case paths([FilePath])

    /// Maximum number of parts of a foreign path that are tried relative to the list.
    private static let maximumTail = 6

    /// Target of an entry of a list in this folder.
    package init(_ entry: PlaylistEntry, in folder: FilePath) {
        let location = entry.location
        if Self.hasScheme(location) {
            let uri = LegacyText.decoded(location)
            guard case .path(let path) = MediaAddress(uri) else {
                self = .uri(uri)
                return
            }
            self = .paths(Self.forms(path.normalized.bytes).compactMap { FilePath($0) })
            return
        }
        if Self.isPlain(location), let path = FilePath(location) {
            self = .paths([(location.first == UInt8(ascii: "/") ? path : folder.appending(path)).normalized])
            return
        }
        var paths: [FilePath] = []
        let variants = Self.forms(location).flatMap { Self.variants($0, isReference: entry.isReference) }
        // Percent escapes may name bytes of any character set.
        for variant in variants.flatMap(Self.forms) {
            guard !variant.isEmpty, let path = FilePath(variant) else { continue }
            let whole = (variant.first == UInt8(ascii: "/") ? path : folder.appending(path)).normalized
            if !paths.contains(whole) { paths.append(whole) }
        }
        self = .paths(paths)
    }

    /// A name, and what it is in UTF-8 if it is not: a name in an old character set is mostly stored in UTF-8 on this disk,
    /// and may be stored unchanged.
    private static func forms(_ name: [UInt8]) -> [[UInt8]] {
        guard String(validating: name, as: UTF8.self) == nil else { return [name] }
        let (legacy, windows) = (LegacyText.decoded(name), LegacyText.windows1252(name))
        return [name, Array(legacy.utf8)] + (legacy == windows ? [] : [Array(windows.utf8)])
    }

    /// The paths that a location may mean: of another system, with its slashes, or with percent escapes.
    private static func variants(_ location: [UInt8], isReference: Bool) -> [[UInt8]] {
        if let tails = windowsTails(location) { return tails }
        let slashed = location.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }
        var variants = slashed == location ? [location] : [location, slashed]
        let (decoded, isWhole) = PercentCoding.decoded(slashed)
        if isWhole, decoded != slashed { variants.insert(decoded, at: isReference ? 0 : variants.count) }
        return variants
    }

    /// True for a name of ASCII characters without escapes and backslashes: one path at most can be meant.
    private static func isPlain(_ location: [UInt8]) -> Bool {
        location.withUnsafeBytes { bytes in
            var isPlain = !bytes.isEmpty
            for byte in bytes {
                if byte >= 0x80 || byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\\") { isPlain = false }
            }
            // `C:/Music/a.mp3` is no path of this host.
            return isPlain && !(bytes.count > 2 && bytes[1] == UInt8(ascii: ":"))
        }
    }

    /// True for `http://…` and `file:…`; a file name may have a colon, too.
    private static func hasScheme(_ location: [UInt8]) -> Bool {
        guard let colon = location.prefix(32).firstIndex(of: UInt8(ascii: ":")), colon > 1 else { return false }
        let scheme = String(decoding: location[..<colon], as: UTF8.self).lowercased()
        guard scheme.utf8.allSatisfy({ $0 &- UInt8(ascii: "a") < 26 || $0 &- UInt8(ascii: "0") < 10 || $0 == 0x2B })
        else { return false }
        return scheme == "file" || location[(colon + 1)...].starts(with: "//".utf8)
    }

    /// Relative paths for `C:\Music\a.mp3` and `\\server\music\a.mp3`, which cannot exist on this host: their ends, the
    /// longest first, relative to the list. Nil: it is not such a path.
    private static func windowsTails(_ location: [UInt8]) -> [[UInt8]]? {
        let isDrive =
            location.count > 2 && location[1] == UInt8(ascii: ":") && location[0] | 0x20 &- UInt8(ascii: "a") < 26
            && (location[2] == UInt8(ascii: "\\") || location[2] == UInt8(ascii: "/"))
        guard isDrive || location.starts(with: [0x5C, 0x5C]) else { return nil }
        let parts = location.split { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "/") }.dropFirst()
        return (1...max(1, min(parts.count, maximumTail))).reversed().map {
            Array(parts.suffix($0).joined(separator: [UInt8(ascii: "/")]))
        }
    }
}

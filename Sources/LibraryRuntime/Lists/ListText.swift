import AudioCore
package import AudioDecoders
package import LinuxSystem
import MediaAccess
import NowPlaying

/// The text of a saved list: M3U8 with `#EXTINF` lines, readable by other programs.
package enum ListText {
    /// The text of these items. A path that does not fit in a line becomes a percent-encoded uri.
    package static func bytes(_ items: [ListItem]) -> [UInt8] {
        var result = Array("#EXTM3U\n".utf8)
        for item in items {
            if item.title != nil || item.duration != nil {
                let seconds = item.duration.map { Int(clamping: $0.rounded()) } ?? -1
                let title = PrintableText.stripped(item.title ?? "", limit: 1024)
                result += Array("#EXTINF:\(seconds),\(title)\n".utf8)
            }
            result += location(item.uri)
            result.append(UInt8(ascii: "\n"))
        }
        return result
    }

    private static func location(_ uri: String) -> [UInt8] {
        guard uri.hasPrefix("file:"), case .path(let path) = MediaAddress(uri), isLine(path.bytes) else {
            return Array(uri.utf8)
        }
        return path.bytes
    }

    /// True if a reader of M3U8 reads the same bytes: text without line ends and without spaces at its ends.
    private static func isLine(_ bytes: [UInt8]) -> Bool {
        guard let last = bytes.last, last > 0x20, String(validating: bytes, as: UTF8.self) != nil else { return false }
        return bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    /// The items in the text of a list in `folder`. Throws `PlaylistError` if the text is invalid.
    package static func items(_ bytes: [UInt8], in folder: FilePath) throws(PlaylistError) -> [ListItem] {
        try PlaylistKind.m3u8.entries(bytes).compactMap { entry in
            guard let uri = uri(entry.location, in: folder) else { return nil }
            let title = entry.metadata.title.map { title in
                entry.metadata.artist.map { $0 + " - " + title } ?? title
            }
            return ListItem(uri: uri, title: title, duration: entry.duration)
        }
    }

    /// Number of items in the text of a list, without validation.
    package static func count(_ bytes: [UInt8]) -> Int {
        bytes.split { $0 == 0x0A || $0 == 0x0D }.count { line in
            line.first != UInt8(ascii: "#") && line.contains { $0 > 0x20 }
        }
    }

    private static func uri(_ location: [UInt8], in folder: FilePath) -> String? {
        if let text = String(validating: location, as: UTF8.self), text.contains(":") {
            switch MediaAddress(text) {
            case .remote, .track: return text
            case .path(let path) where text.utf8.first != UInt8(ascii: "/"): return MediaSource.fileURI(path)
            case .path, .unplayable: break
            }
        }
        guard let path = FilePath(location) else { return nil }
        return MediaSource.fileURI((path.bytes.first == UInt8(ascii: "/") ? path : folder.appending(path)).normalized)
    }
}

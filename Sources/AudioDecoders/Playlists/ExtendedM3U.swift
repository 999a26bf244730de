import NowPlaying

/// M3U and M3U8: a location on each line, with the data of the line `#EXTINF` before it; other lines with `#` are
/// comments.
enum ExtendedM3U {
    /// The entries. Throws for a list of segments of a stream (HLS, RFC 8216), which are not items.
    static func entries(_ content: [UInt8]) throws(PlaylistError) -> [PlaylistEntry] {
        var result: [PlaylistEntry] = []
        var next = PlaylistEntry(location: [])
        var album: (title: String?, artist: String?)?
        for line in PlaylistText.lines(PlaylistText.normalized(content)) {
            guard line.first == UInt8(ascii: "#") else {
                next.location = Array(line)
                if let album {
                    next.metadata.albumTitle = album.title
                    next.metadata.albumArtist = album.artist
                }
                result.append(next)
                next = PlaylistEntry(location: [])
                continue
            }
            if let value = value(line, "#EXTINF:") {
                next = information(value)
            } else if let value = value(line, "#EXTALB:") {
                album = (PlaylistText.text(value), album?.artist)
            } else if let value = value(line, "#EXTART:") {
                album = (album?.title, PlaylistText.text(value))
            } else if PlaylistText.has(line, prefix: "#EXT-X-TARGETDURATION")
                || PlaylistText.has(line, prefix: "#EXT-X-STREAM-INF")
            {
                throw PlaylistError("lists the pieces of an HLS stream, not items")
            }
        }
        return result
    }

    private static func value(_ line: ArraySlice<UInt8>, _ name: StaticString) -> ArraySlice<UInt8>? {
        PlaylistText.has(line, prefix: name) ? line.dropFirst(name.utf8CodeUnitCount) : nil
    }

    /// Metadata and duration of `213,Artist - Title` or `-1 tvg-id="a,b",Title`.
    private static func information(_ value: ArraySlice<UInt8>) -> PlaylistEntry {
        var entry = PlaylistEntry(location: [])
        let rest = value.drop(while: PlaylistText.isSpace)
        let digits = rest.prefix { $0 &- UInt8(ascii: "0") < 10 || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
        entry.duration = PlaylistText.seconds(digits)
        var isQuoted = false
        let comma = rest.firstIndex { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ",") && !isQuoted
        }
        // A quote without an end hides the comma.
        guard let comma = comma ?? rest.firstIndex(of: UInt8(ascii: ",")) else { return entry }
        entry.metadata = PlaylistTitle.metadata(rest[(comma + 1)...])
        return entry
    }
}

/// The titles of M3U and PLS, which mostly contain the artist, too.
enum PlaylistTitle {
    /// Metadata of `Artist - Title`.
    static func metadata(_ bytes: ArraySlice<UInt8>) -> MediaMetadata {
        var metadata = MediaMetadata()
        guard let text = PlaylistText.text(bytes) else { return metadata }
        metadata.title = text
        if let range = text.place(of: " - ") {
            let artist = text[..<range.lowerBound].trimmingSpace
            let title = text[range.upperBound...].trimmingSpace
            if !artist.isEmpty, !title.isEmpty {
                metadata.artist = String(artist)
                metadata.title = String(title)
            }
        }
        return metadata
    }
}

extension Substring {
    fileprivate var trimmingSpace: Substring {
        var rest = drop { $0 == " " }
        while rest.last == " " { rest.removeLast() }
        return rest
    }
}

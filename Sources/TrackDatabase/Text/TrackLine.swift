/// A line in the text of a track: a key and its value. A track without the value has no such line, and a track with
/// several values has several.
package struct TrackLine: Equatable, Sendable {
    /// The value of a line.
    package enum Content: Equatable, Sendable {
        case tag(TrackTag)
        /// The place of the file in the library, in the kernel's bytes.
        case path
        /// The place below its folder of the library.
        case pathBelow
        case trackNumber, discNumber, movementNumber
        /// Seconds with three decimals.
        case duration
        /// Whole seconds.
        case seconds
        /// Frames a second, bits of a sample (`f`: the sound is lossy) and channels, as `44100:16:2`.
        case format
        /// A time in UTC, as `2026-11-23T22:30:00Z`.
        case added, modified
    }

    /// Bytes of a key, at most.
    package static let longestKey = 64

    let key: [UInt8]
    let content: Content

    /// A line by the name of its content in the protocol; nil: the name is unknown, or the key is too long or has a
    /// control character.
    package init?(key: String, field: String) {
        guard (1...Self.longestKey).contains(key.utf8.count), key.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            return nil
        }
        self.key = Array(key.utf8) + [UInt8(ascii: ":"), UInt8(ascii: " ")]
        switch field {
        case "path": content = .path
        case "pathBelow": content = .pathBelow
        case "trackNumber": content = .trackNumber
        case "discNumber": content = .discNumber
        case "movementNumber": content = .movementNumber
        case "duration": content = .duration
        case "seconds": content = .seconds
        case "format": content = .format
        case "added": content = .added
        case "modified": content = .modified
        case _:
            guard let tag = TrackTag(name: field) else { return nil }
            content = .tag(tag)
        }
    }
}

/// Tracks of a page as text.
package struct TrackText: Equatable, Sendable {
    /// The lines of the tracks in their order.
    package let bytes: [UInt8]
    /// Number of the tracks.
    package let count: Int
    /// End offsets of the tracks that were requested one by one; nil: they were not. An unknown track has the end of
    /// the previous one.
    package var ends: [Int]?
    /// Value for `after` of the next page; nil: this is the last one.
    package let next: String?
    /// Version of the library at the query.
    package let version: Int64
}

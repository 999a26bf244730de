/// A line in the text of a track: a key, and a value that follows it. A track without the value has no such line, and one with
/// several values has several.
package struct TrackLine: Equatable, Sendable {
    /// The value of a line.
    package enum Content: Equatable, Sendable {
        case tag(TrackTag)
        /// The place of the file in the library, in the bytes that the kernel has.
        case path
        /// The same below the folder of the library that it begins with.
        case pathBelow
        case trackNumber, discNumber, movementNumber
        /// Seconds with three digits behind the point.
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

    /// A line by the name of its content in the protocol; nil: nothing has the name, or the key is too long or has a control
    /// character.
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
    /// The lines of one track after the other.
    package let bytes: [UInt8]
    /// Number of the tracks.
    package let count: Int
    /// Ends in the text of the tracks that were asked for one by one; nil: they were not. One that there is not ends where the
    /// one before does.
    package var ends: [Int]?
    /// For `after` of the next page; nil: this is the last one.
    package let next: String?
    /// Version of the library that was asked.
    package let version: Int64
}

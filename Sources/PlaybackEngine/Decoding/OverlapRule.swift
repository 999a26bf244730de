package import NowPlaying

/// Rule by which an item overlaps the end of the previous item. The decode thread applies it, as it is the first to
/// have the tags and the length of an item. A pure value.
package struct OverlapRule: Equatable, Sendable {
    /// Requested overlap in seconds.
    package let seconds: Double
    /// Playing time of the whole previous item in seconds; nil: unknown.
    package let secondsBefore: Double?
    /// Tags of the previous item: the next item of its album follows without an overlap. Nil: albums do not play in
    /// order.
    package let before: MediaMetadata?
    /// Tags that a client gave the item.
    package let given: MediaMetadata

    /// Shortest overlap in seconds: a shorter one would be a click.
    package static let shortest = 0.1

    /// A rule, by its parts.
    package init(seconds: Double, secondsBefore: Double?, before: MediaMetadata?, given: MediaMetadata) {
        self.seconds = seconds
        self.secondsBefore = secondsBefore
        self.before = before
        self.given = given
    }

    /// Overlap in seconds; 0: none. `found`: tags of the item's file; `seconds`: duration of the item's sound, nil if it has
    /// no known end.
    package func overlap(of found: MediaMetadata, seconds length: Double?) -> Double {
        guard let length, found.isLiveStream != true, given.isLiveStream != true else { return 0 }
        if let before, followsOnAlbum(given.filled(from: found), after: before) { return 0 }
        return Self.overlap(seconds, between: secondsBefore ?? .infinity, and: length)
    }

    /// Overlap in seconds of two items with these durations: at most half of either; 0: none.
    package static func overlap(_ wanted: Double, between before: Double, and length: Double) -> Double {
        let overlap = min(wanted, before / 2, length / 2)
        return overlap >= shortest ? overlap : 0
    }
}

/// A part of an item that can be gone to.
package struct Chapter: Equatable, Sendable {
    /// Seconds into the item: content time for clients, the file's time in a file. At most
    /// `TimeLimit.seconds`.
    package let start: Double
    package var title: String?

    /// A chapter, by its parts.
    package init(start: Double, title: String? = nil) {
        self.start = TimeLimit.bounded(start)
        self.title = title
    }

    /// Chapters of one item, at most: what a file says beyond is left out.
    package static let limit = 1000
}

/// A stretch of an item's file that is an advertisement: it plays, but is no part of the content.
package struct AdTimeRange: Equatable, Sendable {
    /// Seconds into the file, at most `TimeLimit.seconds`.
    package let start: Double
    /// Seconds; more than 0, at most `TimeLimit.seconds`.
    package let duration: Double

    /// A range, by its parts.
    package init(start: Double, duration: Double) {
        self.start = TimeLimit.bounded(start)
        self.duration = TimeLimit.bounded(duration)
    }

    /// Seconds into the file.
    package var end: Double { start + duration }

    /// Ranges of one item, at most.
    package static let limit = 1000
}

/// Kind of an item, for display and for the defaults of its kind.
package enum MediaType: String, Sendable, CaseIterable {
    case audio, music, podcast, audiobook, video
}

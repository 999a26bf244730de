/// A part of an item that a client can seek to.
package struct Chapter: Equatable, Sendable {
    /// Start in seconds: content time for clients, media time in a file. At most `TimeLimit.seconds`.
    package let start: Double
    package var title: String?

    /// A chapter, by its parts.
    package init(start: Double, title: String? = nil) {
        self.start = TimeLimit.bounded(start)
        self.title = title
    }

    /// Maximum number of chapters of an item; further chapters of a file are dropped.
    package static let limit = 1000
}

/// A range of an item's file that is an advertisement: it plays, but does not belong to the content.
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

    /// End in seconds into the file.
    package var end: Double { start + duration }

    /// Maximum number of ranges of an item.
    package static let limit = 1000
}

/// Kind of an item, for display and for the defaults of its kind.
package enum MediaType: String, Sendable, CaseIterable {
    case audio, music, podcast, audiobook, video
}

package import NowPlaying

/// Feedback about one item in the database.
package struct FeedbackRecord: Equatable, Sendable {
    /// Identity of the item's content.
    package var identity: String
    /// Address of the item at its last change; nil: unknown.
    package var uri: String?
    /// Feedback of listeners, and the item's earlier playback.
    package var feedback: Feedback
    /// The item's last change; its number is 0 if there was none.
    package var cursor: FeedbackCursor

    /// A record, by its parts.
    package init(identity: String, uri: String? = nil, feedback: Feedback, cursor: FeedbackCursor) {
        self.identity = identity
        self.uri = uri
        self.feedback = feedback
        self.cursor = cursor
    }
}

/// Position in the list of all changes of one database.
package struct FeedbackCursor: Equatable, Sendable {
    /// Random number of the database; 0: there is no database.
    package let origin: Int64
    /// Number of a change, from 1; 0: before all changes.
    package let number: Int64

    /// Before all changes, of any database.
    package static let beginning = FeedbackCursor(origin: 0, number: 0)

    /// A position, by its parts.
    package init(origin: Int64, number: Int64) {
        self.origin = origin
        self.number = number
    }

    /// The position in `text`; nil: the text is invalid.
    package init?(text: String) {
        if text == "0" {
            self = .beginning
            return
        }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let origin = Int64(parts[0], radix: 16), let number = Int64(parts[1]), origin > 0,
            number >= 0, FeedbackCursor(origin: origin, number: number).text == text
        else { return nil }
        self.init(origin: origin, number: number)
    }

    /// The position as text for clients: `5f3a9c01d2e4-17`.
    package var text: String { origin == 0 ? "0" : String(origin, radix: 16) + "-\(number)" }

    /// The position before this change.
    package var previous: FeedbackCursor { FeedbackCursor(origin: origin, number: max(0, number - 1)) }

    /// True if a record at this position must not replace one at `other`.
    package func isOlder(than other: FeedbackCursor) -> Bool {
        origin == other.origin ? number < other.number : origin == 0
    }
}

/// Changes of feedback after a position, the oldest first. An item with several changes appears at its last one.
package struct FeedbackChanges: Sendable {
    package let records: [FeedbackRecord]
    /// Position after the last of them.
    package let next: FeedbackCursor
    /// True if the position of the request belongs to another database: then the list begins at the first change.
    package let isReset: Bool
    /// True if more changes follow.
    package let hasMore: Bool
}

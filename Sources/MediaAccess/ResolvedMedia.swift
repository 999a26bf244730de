package import AudioCore
package import PlaybackEngine

/// A playable thing that a client named: it exists, and the client may have it played.
package struct ResolvedMedia: Sendable {
    package let source: MediaSource
    /// Fields that the client gave; nil: none.
    package let details: ItemDetails?

    /// A playable thing, by its parts.
    package init(source: MediaSource, details: ItemDetails? = nil) {
        self.source = source
        self.details = details
    }
}

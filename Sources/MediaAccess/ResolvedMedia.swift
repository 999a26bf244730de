package import AudioCore
package import PlaybackEngine

/// A source from a request that exists and that the client may play.
package struct ResolvedMedia: Sendable {
    package let source: MediaSource
    /// Fields from the client; nil: none.
    package let details: ItemDetails?

    /// A resolved source, by its parts.
    package init(source: MediaSource, details: ItemDetails? = nil) {
        self.source = source
        self.details = details
    }
}

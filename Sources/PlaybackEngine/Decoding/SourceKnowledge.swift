package import AudioCore
package import NowPlaying

/// What is known of sources beyond what is in them. Asked on the decode thread; may block as reading a source may.
package struct SourceKnowledge: Sendable {
    /// Where an item goes on that has a bookmark or was left in the middle, in seconds of its content; nil: at its beginning.
    package var resumePosition: @Sendable (MediaSource) -> Double?
    /// Its chapters, if it says nothing of them itself; nil: nobody else does.
    package var chapters: @Sendable (MediaSource) -> [Chapter]?

    /// Nothing is known.
    package init(
        resumePosition: @escaping @Sendable (MediaSource) -> Double? = { _ in nil },
        chapters: @escaping @Sendable (MediaSource) -> [Chapter]? = { _ in nil }
    ) {
        self.resumePosition = resumePosition
        self.chapters = chapters
    }
}

package import AudioCore
package import NowPlaying

/// Facts about sources that do not stand in them. Called on the decode thread; may block as reading a source may.
package struct SourceKnowledge: Sendable {
    /// The position to resume an item at that has a bookmark or was left in the middle, in seconds of its content; nil: its
    /// beginning.
    package var resumePosition: @Sendable (MediaSource) -> Double?
    /// Chapters from a file beside it, if its own tags have none; nil: there is no such file.
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

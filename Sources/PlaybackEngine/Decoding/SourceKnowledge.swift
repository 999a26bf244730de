package import AudioCore
package import NowPlaying

/// Facts about sources that are not in them. Called on the decode thread; may block as long as a read of a source.
package struct SourceKnowledge: Sendable {
    /// Resume position of an item with a bookmark or one that was left in the middle, in seconds of its content; nil:
    /// the beginning.
    package var resumePosition: @Sendable (MediaSource) -> Double?
    /// Chapters from a file beside it, if its own tags have none; nil: there is no such file.
    package var chapters: @Sendable (MediaSource) -> [Chapter]?
    /// Measured loudness of a local source with these tags.
    package var loudness: @Sendable (MediaSource, LoudnessTags?) -> MeasuredLoudness

    /// Without facts.
    package init(
        resumePosition: @escaping @Sendable (MediaSource) -> Double? = { _ in nil },
        chapters: @escaping @Sendable (MediaSource) -> [Chapter]? = { _ in nil },
        loudness: @escaping @Sendable (MediaSource, LoudnessTags?) -> MeasuredLoudness = { _, _ in MeasuredLoudness() }
    ) {
        self.resumePosition = resumePosition
        self.chapters = chapters
        self.loudness = loudness
    }
}

package import NowPlaying

/// A file's facts for a library: its tags, its length and the kind of its sound, read without decoding.
package struct TrackFacts: Equatable, Sendable {
    /// Trust in `duration`.
    package enum LengthTrust: Sendable {
        /// The length in the file, or the sum of its frames.
        case exact
        /// Estimated from the size and the bit rate of the first frames.
        case estimated
    }

    /// All tags that are texts.
    package var tags = TrackTags()
    /// 1 to 99,999; nil: unknown.
    package var trackNumber: Int?
    package var trackCount: Int?
    package var discNumber: Int?
    package var discCount: Int?
    package var movementNumber: Int?
    package var movementCount: Int?
    /// True if the tags call the album a compilation of several artists; nil: unknown.
    package var isCompilation: Bool?
    package var loudness: LoudnessTags?
    /// In ascending order.
    package var chapters: [Chapter] = []
    /// True if the file has lyrics.
    package var hasLyrics = false
    /// True if a cue sheet in the file divides it into tracks.
    package var hasCueSheet = false
    package var pictureCount = 0
    /// All fields by their names in the file; empty unless they were requested.
    package var comments: [TrackComment] = []
    /// Media type of the first picture, `image/jpeg`; nil: there is no picture, or its type is unknown.
    package var pictureType: String?

    /// Seconds, at most `TimeLimit.seconds`; nil: unknown.
    package var duration: Double?
    package var lengthTrust = LengthTrust.exact
    /// The coding and its numbers; bits of a sample are nil in lossy codings.
    package var format = MediaFormat(codec: "", sampleRate: 0, channels: 0)

    /// No facts.
    package init() {}

    /// The day of release as precisely as the tags have it: `1999`, `1999-05`, `1999-05-03`; nil: unknown.
    package var date: String? {
        tags.first(.date).flatMap(TagNumbers.date) ?? tags.first(.releaseDate).flatMap(TagNumbers.date)
    }
    /// The day of the first release, in the same form.
    package var originalDate: String? { tags.first(.originalDate).flatMap(TagNumbers.date) }
}

/// Reason why a file has no facts.
package enum TrackReadingError: Error, Equatable, Sendable {
    /// The errno of fstat(2) or pread(2).
    case unreadable(Int32)
    /// A folder, a pipe or similar.
    case notAFile
    /// The content has no known audio.
    case notRecognised
}

package import NowPlaying

/// A file's facts for a library: its tags, its length and the kind of its sound, read without decoding anything.
package struct TrackFacts: Equatable, Sendable {
    /// Trust in `duration`.
    package enum LengthTrust: Sendable {
        /// As long as the file says or its frames show.
        case exact
        /// By the size and the bit rate of the first frames.
        case estimated
    }

    /// All tags that are texts.
    package var tags = TrackTags()
    /// 1 to 99,999; nil: not said.
    package var trackNumber: Int?
    package var trackCount: Int?
    package var discNumber: Int?
    package var discCount: Int?
    package var movementNumber: Int?
    package var movementCount: Int?
    /// True if the album is said to be a compilation of several artists; nil: not said.
    package var isCompilation: Bool?
    package var loudness: LoudnessTags?
    /// In ascending order.
    package var chapters: [Chapter] = []
    /// True if the file has the words of the song.
    package var hasLyrics = false
    /// True if a cue sheet in the file divides it into tracks.
    package var hasCueSheet = false
    package var pictureCount = 0
    /// All fields by their names in the file; empty unless they were asked for.
    package var comments: [TrackComment] = []
    /// Media type of the first picture, `image/jpeg`; nil: none, or not said.
    package var pictureType: String?

    /// Seconds, at most `TimeLimit.seconds`; nil: unknown.
    package var duration: Double?
    package var lengthTrust = LengthTrust.exact
    /// The coding and its numbers; bits of a sample are nil in lossy codings.
    package var format = MediaFormat(codec: "", sampleRate: 0, channels: 0)

    /// Nothing known yet.
    package init() {}

    /// The day of release as precisely as it is known: `1999`, `1999-05`, `1999-05-03`; nil: unknown.
    package var date: String? {
        tags.first(.date).flatMap(TagNumbers.date) ?? tags.first(.releaseDate).flatMap(TagNumbers.date)
    }
    /// The same of the first release ever.
    package var originalDate: String? { tags.first(.originalDate).flatMap(TagNumbers.date) }
}

/// Reason for which a file has no facts.
package enum TrackReadingError: Error, Equatable, Sendable {
    /// The errno of fstat(2) or pread(2).
    case unreadable(Int32)
    /// A folder, a pipe or the like.
    case notAFile
    /// The content is no sound that is known here.
    case notRecognised
}

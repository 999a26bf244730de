package import NowPlaying

/// Turns one opened source into frames. Made and used on one thread only, the decode thread; it may block on reading.
///
/// Contract, for every implementation (the conformance tests run it over each):
/// - `read` delivers the frames from the present position on, each exactly once, and 0 only at the end. A source that got
///   shorter than it promised ends there (0). After an error the decoder may still be asked to seek.
/// - `seek` is exact to the frame or throws; a target at or past the end puts the position at the end.
/// - Neither keeps more than about 1 MiB, whatever the file contains.
package protocol AudioDecoder: AnyObject {
    /// Format of the frames that `read` delivers; constant but for `adoptFormat`.
    var format: AudioFormat { get }
    /// Format as it is in the source, for people.
    var mediaFormat: MediaFormat { get }
    /// Frames from beginning to end as the source promises; nil if it does not.
    var lengthInFrames: Int64? { get }
    /// True if `lengthInFrames` is an estimate that `measureLength` would make exact.
    var lengthIsEstimated: Bool { get }
    /// Goes on finding out the length, until `isEnough` says so (asked every few milliseconds) or it is known. What is read
    /// next does not change. Throws what reading throws.
    func measureLength(until isEnough: () -> Bool) throws(DecodingError)
    /// Metadata of the source. Texts are valid UTF-8, each at most 4 KiB, without NUL.
    var metadata: MediaMetadata { get }
    /// Metadata from the next frame of `read` on, if it changed; each change is returned
    /// once. `read` ends before the frame where it changes.
    func takeMetadataChange() -> MediaMetadata?
    /// True if `seek` is possible at all.
    var isSeekable: Bool { get }
    /// Moves to this frame, counted from the beginning.
    func seek(toFrame frame: Int64) throws(DecodingError)
    /// Writes whole frames into `buffer` and says how many; 0: the end. May deliver less than fits.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int
    /// Seconds from the beginning of the source to where the format changes next: `read` ends there. Nil: it stays.
    var nextFormatChange: Double? { get }
    /// Takes on the format of what is so many seconds from the beginning. All frames are numbered from the beginning of the
    /// source as if all of it had this format; `seek` reaches those that have it. Throws what seeking throws.
    func adoptFormat(at seconds: Double) throws(DecodingError)
    /// A decoder for another part of the same file that continues with what this one has open, at the part's beginning; this
    /// one must not be used any more. Nil: the source is something else. Throws what seeking throws.
    func continued(as source: MediaSource) throws(DecodingError) -> (any AudioDecoder)?
}

extension AudioDecoder {
    /// `lengthInFrames`, but never longer than anything may last.
    package var boundedLength: Int64? { lengthInFrames.map { format.length(claimed: $0) } }

    package var lengthIsEstimated: Bool { false }

    package func measureLength(until isEnough: () -> Bool) throws(DecodingError) {}

    package var nextFormatChange: Double? { nil }

    package func adoptFormat(at seconds: Double) throws(DecodingError) {}

    package func continued(as source: MediaSource) throws(DecodingError) -> (any AudioDecoder)? { nil }
}

/// Why a source can't be decoded, in words for people: what happened; the caller knows to which file.
package struct DecodingError: Error, Equatable, Sendable {
    /// Kind of failure, which decides the caller's reaction.
    package enum Kind: Sendable {
        /// Missing, unreadable, not a regular file.
        case unavailable
        /// Its content is nothing that we decode.
        case notRecognised
        /// It is of a kind that we decode, but broken or outside the limits.
        case broken
        /// The device or network below failed (EIO, ESTALE, ENODEV, ENOTCONN).
        case mediaGone
        /// The file system that it is on is not mounted: something has to be mounted before it is worth another look.
        case notMounted
    }

    package var kind: Kind
    /// True if the source may return later: its medium is away.
    package var isAway: Bool { kind == .mediaGone || kind == .notMounted }
    /// A sentence without the file's name, without control characters: `not a FLAC, WAV, AIFF, AU or CAF file`.
    package var message: String

    /// An error of this kind, in these words.
    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The sound server can't be asked for audio of this format.
    package static func unplayable(_ format: AudioFormat) -> DecodingError {
        DecodingError(
            .broken,
            "it has \(format.channels.count) channels at \(format.sampleRate) Hz; 1 to 8 channels at 1 Hz to 384 kHz can be "
                + "played")
    }
}

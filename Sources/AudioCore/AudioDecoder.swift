package import NowPlaying

/// Decodes one open source to frames. Made and used on one thread only, the decode thread; it may block on reading.
///
/// Contract, for every implementation (the conformance tests run it over each):
/// - `read` delivers the frames from the present position on, each exactly once, and 0 only at the end. A source that
///   got shorter ends there (0). After an error the decoder still accepts a seek.
/// - `seek` is exact to the frame or throws; a target at or past the end puts the position at the end.
/// - Neither keeps more than about 1 MiB, for any content of the file.
package protocol AudioDecoder: AnyObject {
    /// Format of the frames that `read` delivers; only `adoptFormat` changes it.
    var format: AudioFormat { get }
    /// Format in the source, for people.
    var mediaFormat: MediaFormat { get }
    /// Frames from beginning to end as the source claims; nil: it claims none.
    var lengthInFrames: Int64? { get }
    /// True if `lengthInFrames` is an estimate that `measureLength` can make exact.
    var lengthIsEstimated: Bool { get }
    /// Continues to measure the length, until `isEnough` (called every few milliseconds) returns true or the length is
    /// known. It does not change the position of `read`. Throws read errors.
    func measureLength(until isEnough: () -> Bool) throws(DecodingError)
    /// Metadata of the source. Texts are valid UTF-8, each at most 4 KiB, without NUL.
    var metadata: MediaMetadata { get }
    /// Metadata from the next frame of `read` on, if it changed; returns each change once. `read` ends before the frame
    /// at which the metadata changes.
    func takeMetadataChange() -> MediaMetadata?
    /// True if the source supports `seek`.
    var isSeekable: Bool { get }
    /// Moves to this frame, counted from the beginning.
    func seek(toFrame frame: Int64) throws(DecodingError)
    /// Writes whole frames into `buffer` and returns their number; 0: the end. May deliver less than fits.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int
    /// Seconds from the beginning of the source to the next change of format: `read` ends there. Nil: none follows.
    var nextFormatChange: Double? { get }
    /// Adopts the format at this time, in seconds from the beginning. All frames are numbered from the beginning of the
    /// source as if the whole source had this format; `seek` reaches the frames that have it. Throws seek errors.
    func adoptFormat(at seconds: Double) throws(DecodingError)
    /// A decoder for another part of the same file, at that part's beginning. It takes over the open file of this
    /// decoder, which must not be used any more. Nil: `source` is not such a part. Throws seek errors.
    func continued(as source: MediaSource) throws(DecodingError) -> (any AudioDecoder)?
}

extension AudioDecoder {
    /// `lengthInFrames`, limited to `TimeLimit.seconds`.
    package var boundedLength: Int64? { lengthInFrames.map { format.length(claimed: $0) } }

    package var lengthIsEstimated: Bool { false }

    package func measureLength(until isEnough: () -> Bool) throws(DecodingError) {}

    package var nextFormatChange: Double? { nil }

    package func adoptFormat(at seconds: Double) throws(DecodingError) {}

    package func continued(as source: MediaSource) throws(DecodingError) -> (any AudioDecoder)? { nil }
}

/// Reason why a source cannot be decoded, as text without the file's name, which the caller adds.
package struct DecodingError: Error, Equatable, Sendable {
    /// Kind of failure, which decides the caller's reaction.
    package enum Kind: Sendable {
        /// Missing, unreadable, not a regular file.
        case unavailable
        /// The content has no supported format.
        case notRecognised
        /// The format is supported, but the content is broken or exceeds the limits.
        case broken
        /// The device or network below failed (EIO, ESTALE, ENODEV, ENOTCONN).
        case mediaGone
        /// Its file system is not mounted: a retry fails until something is mounted.
        case notMounted
        /// This machine has no route to it, no name server answers, or its clock is not set yet.
        case noNetwork
        /// Its address fails now: its host or server refuses or does not answer, or has no such name or file.
        case unreachable
        /// A stream that was opened again begins as before: it was a file, and has ended.
        case ended
    }

    package var kind: Kind
    /// True if the source may return later: its medium is away.
    package var isAway: Bool { kind == .mediaGone || kind == .notMounted }
    /// True if a source on the network may return later.
    package var mayReturn: Bool { kind == .mediaGone || kind == .noNetwork || kind == .unreachable }
    /// A sentence without the file's name, without control characters: `not in a known audio format`.
    package var message: String

    /// An error of this kind with this text.
    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// Error for a format that no sound server accepts.
    package static func unplayable(_ format: AudioFormat) -> DecodingError {
        DecodingError(
            .broken,
            "it has \(format.channels.count) channels at \(format.sampleRate) Hz; 1 to 8 channels at 1 Hz to 384 kHz can be "
                + "played")
    }
}

import AudioCore
import NowPlaying

/// Replaces the decoder of a file whose medium is missing, so that the file is closed: a medium with open files cannot
/// be unmounted and mounted again.
final class ClosedDecoder: AudioDecoder {
    let format: AudioFormat
    let mediaFormat: MediaFormat
    let lengthInFrames: Int64?
    let metadata: MediaMetadata
    let isSeekable: Bool

    /// Facts about the closed decoder.
    init(_ decoder: any AudioDecoder) {
        format = decoder.format
        mediaFormat = decoder.mediaFormat
        lengthInFrames = decoder.boundedLength
        metadata = decoder.metadata
        isSeekable = decoder.isSeekable
    }

    func takeMetadataChange() -> MediaMetadata? { nil }

    func seek(toFrame frame: Int64) throws(DecodingError) { throw Self.closed }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int { throw Self.closed }

    private static let closed = DecodingError(.mediaGone, "the disk or share that it is on is away")
}

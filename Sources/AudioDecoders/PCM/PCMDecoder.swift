import AudioCore
import NowPlaying
import TrackReading

/// Uncompressed samples in WAV, RF64, W64, AIFF, AU and CAF by libsndfile. 8 and 16 bits come out as int16, 24 as
/// int24, 32 as int32, float as float32 without scaling. 64 bit floats are rounded to 32.
final class PCMDecoder: AudioDecoder {
    let format: AudioFormat
    let mediaFormat: MediaFormat
    let metadata: MediaMetadata
    var lengthInFrames: Int64? { length }

    private let handle: SndFileHandle
    private let length: Int64
    /// The next frame to deliver.
    private var position: Int64 = 0

    /// Opens the content that begins at `start` in the file; `container` is its name for people. Throws `.broken`,
    /// `.notRecognised`, or a read error.
    init(file: MediaFile, start: Int64, container: String) throws(DecodingError) {
        let handle = try SndFileHandle(file: file, start: start)
        guard handle.container != nil, let coding = handle.coding else {
            throw DecodingError(.notRecognised, Self.unknownCoding(in: container))
        }
        guard (1...8).contains(handle.channels) else {
            throw DecodingError(.broken, "it has \(handle.channels) channels; 1 to 8 are supported")
        }
        guard handle.sampleRate > 0 else { throw DecodingError(.broken, "its header claims a sample rate of 0") }
        guard handle.sampleRate <= DecoderRegistry.maximumSampleRate else {
            throw DecodingError(
                .broken, "its sample rate is \(handle.sampleRate) Hz; the sound server takes at most 384 kHz")
        }
        format = AudioFormat(
            sampleFormat: coding.sampleFormat, sampleRate: handle.sampleRate,
            channels: handle.channelPositions ?? ChannelPosition.standardOrder(channels: handle.channels))
        mediaFormat = MediaFormat(
            codec: coding.name, sampleRate: handle.sampleRate, channels: handle.channels,
            bitsPerSample: coding.bitsPerSample)
        metadata = try Self.fields(of: handle, in: file, at: start).metadata
        length = format.length(claimed: handle.lengthInFrames)
        self.handle = handle
    }

    /// The reason for a coding that neither libsndfile nor nowplaying-decode reads; `container`: its name for people.
    static func unknownCoding(in container: String) -> String {
        "this version does not support the sample coding of this \(container) file"
    }

    func seek(toFrame frame: Int64) throws(DecodingError) {
        let wanted = min(max(0, frame), length)
        // libsndfile cannot move to the very end in every coding.
        if wanted < length { try handle.seek(toFrame: wanted) }
        position = wanted
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        let room = Int64(buffer.count / format.bytesPerFrame)
        let wanted = Int(min(room, length - position))
        guard wanted > 0, let target = buffer.baseAddress else { return 0 }
        let got = try handle.read(wanted, as: format.sampleFormat, into: target)
        position += Int64(got)
        return got
    }

    /// Fields of the file: its ID3 tag first, which has more, then the texts that libsndfile finds.
    private static func fields(
        of handle: borrowing SndFileHandle, in file: MediaFile, at start: Int64
    ) throws(DecodingError) -> TagFields {
        var fields = TagFields()
        if let tagOffset = try TagChunk.offset(in: file, at: start), let tag = try ID3v2Tag(in: file, at: tagOffset) {
            fields = tag.fields
        }
        var texts = TagFields()
        for (kind, name) in names { texts.add(name, handle.text(kind).flatMap { TagText.text($0) }) }
        fields.fill(from: texts)
        return fields
    }

    private static let names: [(SndFileHandle.Text, String)] = [
        (.title, "TITLE"), (.artist, "ARTIST"), (.album, "ALBUM"), (.date, "DATE"), (.trackNumber, "TRACKNUMBER"),
        (.genre, "GENRE"), (.comment, "COMMENT"),
    ]
}

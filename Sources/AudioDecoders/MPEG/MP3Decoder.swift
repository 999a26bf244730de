import AudioCore
import NowPlaying
import TrackReading

/// MPEG audio, layers I to III, by libmpg123: MP3 without the silence that its encoder added, by the LAME tag.
///
/// It comes out as float32, the library's own form: nothing is rounded twice, and a gain can still reduce the peaks
/// above full scale that lossy coding makes out of loud music. Output to a stream of 16 bit is as exact, because the
/// sound server rounds once, as the library would. The cost is twice the memory of the ring, 1.4 MB for 44.1 kHz
/// stereo, within the limits of 8 s and 4 MiB.
///
/// It keeps the file's 64 KiB (twice while it counts the length) and 100 KiB of libmpg123's.
final class MP3Decoder: AudioDecoder {
    let format: AudioFormat
    let mediaFormat: MediaFormat
    let metadata: MediaMetadata
    var lengthInFrames: Int64? { length.frames }
    var lengthIsEstimated: Bool { !length.isExact }

    private let handle: MP3Handle
    private var length: MP3Length
    private var isAtEnd = false

    /// Opens the stream of the file; `tags` are those at its beginning. Throws `.broken`, or a read error.
    init(file: MediaFile, stream: MPEGStream, tags: TagFields) throws(DecodingError) {
        let counted = try MP3Length.missingFrames(stream, in: file)
        let handle = try MP3Handle(
            file: file, start: stream.start, end: stream.end,
            stated: counted.map { ($0, at: Int64(XingHeader.framesOffset(stream.header))) })
        format = AudioFormat(
            sampleFormat: .float32, sampleRate: handle.sampleRate, channelCount: handle.channels)
        mediaFormat = MediaFormat(
            codec: stream.header.codec, sampleRate: handle.sampleRate, channels: handle.channels)
        length = try MP3Length(stream, in: file, handle: handle, counted: counted)
        metadata = try Self.fields(of: file, stream: stream, tags: tags).metadata
        self.handle = handle
    }

    func measureLength(until isEnough: () -> Bool) throws(DecodingError) { try length.count(until: isEnough) }

    func seek(toFrame frame: Int64) throws(DecodingError) {
        let target = max(0, frame)
        if length.isExact, let end = length.frames, target >= end {
            isAtEnd = true
            return
        }
        // libmpg123 would step through the whole file for a target beyond its end.
        let reached = try handle.seek(toFrame: min(target, 1 << 40))
        isAtEnd = reached < target
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(DecodingError) -> Int {
        let frame = format.bytesPerFrame
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(buffer.count / frame * frame)])
        while !isAtEnd, room.count > 0 {
            let (bytes, outcome) = try handle.read(into: room)
            if outcome == .end { isAtEnd = true }
            if bytes > 0 { return bytes / frame }
        }
        return 0
    }

    /// Fields of all tags of the file: ID3v2 first, then APE, ID3v1, and the encoder's.
    private static func fields(
        of file: MediaFile, stream: MPEGStream, tags: TagFields
    ) throws(DecodingError) -> TagFields {
        var fields = tags
        let trailing = try TrailingTags(in: file)
        if let items = trailing.apeItems {
            fields.fill(
                from: try APETag.fields(in: file, at: items.offset, length: items.length, count: items.count))
        }
        if let tag = trailing.id3v1 { fields.fill(from: ID3v1Tag.fields(tag)) }
        var encoder = TagFields()
        if let gain = stream.information?.trackGain { encoder.add("REPLAYGAIN_TRACK_GAIN", "\(Double(gain) / 10) dB") }
        if let gain = stream.information?.albumGain { encoder.add("REPLAYGAIN_ALBUM_GAIN", "\(Double(gain) / 10) dB") }
        if fields.first("REPLAYGAIN_TRACK_GAIN") == nil { fields.fill(from: encoder) }
        return fields
    }
}

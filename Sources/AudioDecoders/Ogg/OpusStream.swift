import AudioCore
import CLateLibraries
import CLibraryNames
private import COpusFile
import Glibc

/// Ogg Opus by libopusfile. No other file uses the library. It always applies the gain of the header (RFC 7845 §5.1)
/// and never those of the tags, which the player applies.
final class OpusStream: LinkedStream {
    let links: [OggLink]
    /// Frames to decode before a target. A decoder that begins in the middle only approximates one that has played from
    /// the start. In music (CELT) half a second reduces the difference to one step of 16 bit. Packets coded as speech
    /// (SILK, alone or with CELT) predict from earlier output, until a pause or an unvoiced sound resets the
    /// prediction. Of 3000 places in speech of 8 to 32 kbit/s, the 80 ms of the library left up to 31,789 steps of
    /// difference, half a second up to 175 (17 % of the places by more than one), 2 s up to 80 (1 %), 3 s none. A
    /// steady tone coded as speech never converges: rounding leaves a difference of about a hundredth of the tone after
    /// any preroll.
    private static let preroll: Int64 = 48_000 / 2
    private static let speechPreroll: Int64 = 48_000 * 4

    /// True if the last decoded packet is coded as speech.
    private var isSpeech = false
    private let handle: Handle
    private let source: OggSource

    private struct Handle: ~Copyable {
        let file: OpaquePointer

        deinit { op_free(file) }
    }

    /// Opens the stream; `fields`: what the comments of its first link say. Throws `.broken`, `.unavailable` without the
    /// library, or what reading throws.
    init(_ source: OggSource, fields: TagFields) throws(DecodingError) {
        guard late_opus_is_there() != 0 else {
            throw .withoutLibrary(LIBRARY_OPUSFILE_FILE, package: LIBRARY_OPUSFILE_PACKAGE)
        }
        var callbacks = OpusFileCallbacks(
            read: { context, target, count in
                let source = Unmanaged<OggSource>.fromOpaque(context!).takeUnretainedValue()
                let got = source.read(into: UnsafeMutableRawBufferPointer(start: target, count: Int(max(0, count))))
                return got.map { Int32($0) } ?? -1
            },
            seek: { context, offset, whence in
                Unmanaged<OggSource>.fromOpaque(context!).takeUnretainedValue().seek(offset, whence) ? 0 : -1
            },
            tell: { context in Unmanaged<OggSource>.fromOpaque(context!).takeUnretainedValue().readOffset },
            close: nil)
        var status: Int32 = 0
        let file = op_open_callbacks(Unmanaged.passUnretained(source).toOpaque(), &callbacks, nil, 0, &status)
        guard let file else { throw source.failure ?? DecodingError(.broken, Self.words(opening: status)) }
        self.source = source
        handle = Handle(file: file)
        links = (0..<Int(op_link_count(file))).map { index in
            OggLink(
                frames: max(0, op_pcm_total(file, Int32(index))), sampleRate: 48_000,
                channels: Int(op_channel_count(file, Int32(index))),
                fields: index == 0 ? fields : Self.fields(file, index))
        }
        op_set_gain_offset(file, OP_HEADER_GAIN, 0)
        op_set_decode_callback(
            file,
            { context, _, _, packet, _, _, _, _ in
                let stream = Unmanaged<OpusStream>.fromOpaque(context!).takeUnretainedValue()
                // The top five bits (RFC 6716 §3.1): 0 to 15 contain SILK.
                if let packet = packet?.pointee, packet.bytes > 0 { stream.isSpeech = packet.packet[0] >> 3 < 16 }
                return OP_DEC_USE_DEFAULT
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    var position: Int64 { op_pcm_tell(handle.file) }

    func approach(_ frame: Int64, notBefore start: Int64) throws(DecodingError) -> Int64 {
        let near = max(start, frame - Self.preroll)
        try seek(toFrame: near)
        if near == start { return near }
        // One frame of sound shows the coding. A later change from music to speech resets the speech decoder by itself.
        var sample: (Float, Float, Float, Float, Float, Float, Float, Float) = (0, 0, 0, 0, 0, 0, 0, 0)
        let piece = try withUnsafeMutableBytes(of: &sample) { bytes throws(DecodingError) in
            try read(1, channels: 8, into: bytes.bindMemory(to: Float.self).baseAddress!)
        }
        if !isSpeech, piece.frames > 0, !piece.followsHole { return near + Int64(piece.frames) }
        let far = isSpeech ? max(start, frame - Self.speechPreroll) : near
        try seek(toFrame: far)
        return far
    }

    private func seek(toFrame frame: Int64) throws(DecodingError) {
        source.forgetFailure()
        let status = op_pcm_seek(handle.file, frame)
        if let failure = source.failure { throw failure }
        if status != 0 { throw DecodingError(.broken, "cannot seek to this position in it") }
    }

    func read(
        _ frames: Int, channels: Int, into target: UnsafeMutablePointer<Float>
    ) throws(DecodingError) -> LinkedPiece {
        source.forgetFailure()
        var followsHole = false
        while true {
            var link: Int32 = 0
            let count = op_read_float(handle.file, target, Int32(min(frames, 1 << 16) * channels), &link)
            if let failure = source.failure { throw failure }
            if count >= 0 { return LinkedPiece(frames: Int(count), link: Int(link), followsHole: followsHole) }
            switch count {
            case OP_HOLE, OP_EBADPACKET: followsHole = true
            default: throw DecodingError(.broken, "the Opus decoder failed on it (error \(count))")
            }
        }
    }

    private static func fields(_ file: OpaquePointer, _ link: Int) -> TagFields {
        guard let tags = op_tags(file, Int32(link))?.pointee, let texts = tags.user_comments,
            let lengths = tags.comment_lengths
        else { return TagFields() }
        return VorbisComments(count: Int(tags.comments)) { index, limit in
            [UInt8](UnsafeRawBufferPointer(start: texts[index], count: min(limit, Int(max(0, lengths[index])))))
        }.fields
    }

    private static func words(opening status: Int32) -> String {
        switch status {
        case OP_ENOTFORMAT, OP_EBADHEADER: "its Opus headers are damaged or truncated"
        case OP_EVERSION: "it is of a later version of Opus"
        case OP_EIMPL: "this version does not support its Opus channel mapping"
        case OP_EBADTIMESTAMP: "the times in its Ogg pages contradict themselves"
        default: "the Opus decoder rejects it (error \(status))"
        }
    }
}

import AudioCore
private import COpusFile
import Glibc

/// Ogg Opus by libopusfile: the only file that knows the library. The gain of the header is always applied (RFC 7845 §5.1),
/// those of the tags never: they are the player's business.
final class OpusStream: LinkedStream {
    let links: [OggLink]
    /// A decoder that begins in the middle only comes near to one that has played through: with the 80 ms that the library
    /// allows the difference is some hundred steps of 16 bit, with 200 ms up to ten, with half a second at most one. (Steady
    /// tones coded as speech, at 32 kbit/s and below, differ for longer.)
    static let preroll: Int64 = 48_000 / 2

    private let handle: Handle
    private let source: OggSource

    private struct Handle: ~Copyable {
        let file: OpaquePointer

        deinit { op_free(file) }
    }

    /// Opens the stream; `fields`: what the comments of its first link say. Throws `.broken`, or what reading throws.
    init(_ source: OggSource, fields: TagFields) throws(DecodingError) {
        var callbacks = OpusFileCallbacks(
            read: { context, target, count in
                let source = Unmanaged<OggSource>.fromOpaque(context!).takeUnretainedValue()
                let got = source.read(into: UnsafeMutableRawBufferPointer(start: target, count: Int(max(0, count))))
                return got.map { Int32($0) } ?? -1
            },
            seek: { context, offset, whence in
                Unmanaged<OggSource>.fromOpaque(context!).takeUnretainedValue().seek(offset, whence) ? 0 : -1
            },
            tell: { context in Unmanaged<OggSource>.fromOpaque(context!).takeUnretainedValue().tell },
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
    }

    var position: Int64 { op_pcm_tell(handle.file) }

    func seek(toFrame frame: Int64) throws(DecodingError) {
        source.failure = nil
        let status = op_pcm_seek(handle.file, frame)
        if let failure = source.failure { throw failure }
        if status != 0 { throw DecodingError(.broken, "this place in it can't be reached") }
    }

    func read(_ frames: Int, into target: UnsafeMutablePointer<Float>) throws(DecodingError) -> LinkedPiece {
        source.failure = nil
        var followsHole = false
        while true {
            var link: Int32 = 0
            let count = op_read_float(handle.file, target, Int32(min(frames, 1 << 16) * 8), &link)
            if let failure = source.failure { throw failure }
            if count >= 0 { return LinkedPiece(frames: Int(count), link: Int(link), followsHole: followsHole) }
            switch count {
            case OP_HOLE, OP_EBADPACKET: followsHole = true
            default: throw DecodingError(.broken, "the Opus decoder gave up on it (error \(count))")
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
        case OP_ENOTFORMAT, OP_EBADHEADER: "its Opus headers are damaged or cut off"
        case OP_EVERSION: "it is of a later version of Opus"
        case OP_EIMPL: "its Opus channels are mapped in a way that is not built into this version"
        case OP_EBADTIMESTAMP: "the times in its Ogg pages contradict themselves"
        default: "the Opus decoder does not open it (error \(status))"
        }
    }
}

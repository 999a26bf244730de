import CFFmpeg
import ChildDecoding

/// A file that FFmpeg's demuxer has open, without anything of it decoded.
final class OpenFile {
    private(set) var context: UnsafeMutablePointer<AVFormatContext>?
    private let io: InputContext

    /// Opens a file of one of these containers, of which no other codecs may be used. Throws `WireFailure`.
    init(_ input: any MediaInput, demuxers: String, decoders: String) throws(WireFailure) {
        io = try InputContext(input)
        guard let new = avformat_alloc_context() else { throw WireFailure(.broken, "no memory left") }
        new.pointee.pb = io.context
        new.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        new.pointee.max_streams = 64
        // Files to which a container refers are not opened.
        new.pointee.io_open = { _, _, _, _, _ in ffmpeg_error_io }
        av_opt_set(new, "protocol_whitelist", "none", 0)
        av_opt_set(new, "format_whitelist", demuxers, 0)
        av_opt_set(new, "codec_whitelist", decoders, 0)
        var opening: UnsafeMutablePointer<AVFormatContext>? = new
        // On failure the context is freed.
        guard avformat_open_input(&opening, nil, nil, nil) == 0, let opening else {
            throw WireFailure(.notRecognised, "its content has an unknown format")
        }
        context = opening
    }

    deinit { avformat_close_input(&context) }

    /// Its streams.
    var streams: [UnsafeMutablePointer<AVStream>] {
        guard let context else { return [] }
        return (0..<Int(context.pointee.nb_streams)).compactMap { context.pointee.streams[$0] }
    }
}

import CFFmpeg
import ChildDecoding

/// A file that is open in FFmpeg's demuxer; nothing is decoded yet.
final class OpenFile {
    private(set) var context: UnsafeMutablePointer<AVFormatContext>?
    private let io: InputContext

    /// Opens a file with only these containers and codecs allowed. Throws `WireFailure`.
    init(_ input: any MediaInput, demuxers: String, decoders: String) throws(WireFailure) {
        io = try InputContext(input)
        guard let new = avformat_alloc_context() else { throw WireFailure(.broken, "no memory left") }
        new.pointee.pb = io.context
        new.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        new.pointee.max_streams = 64
        // The demuxer must not open files to which a container refers.
        new.pointee.io_open = { _, _, _, _, _ in ffmpeg_error_io }
        av_opt_set(new, "protocol_whitelist", "none", 0)
        av_opt_set(new, "format_whitelist", demuxers, 0)
        av_opt_set(new, "codec_whitelist", decoders, 0)
        var opening: UnsafeMutablePointer<AVFormatContext>? = new
        // On failure FFmpeg frees the context.
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

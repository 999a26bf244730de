import CFFmpeg
import ChildDecoding

/// An FFmpeg decoder and its last frame. It runs on the only thread of this program.
final class Decoder {
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private(set) var frame: UnsafeMutablePointer<AVFrame>?
    /// Packets in a row that could not be decoded.
    private var failures = 0
    /// Number of failures that make a source broken.
    private static let maximumFailures = 100

    /// Opens the decoder for the audio of a container. Throws `WireFailure`.
    init(_ container: Container) throws(WireFailure) {
        let parameters = container.stream.pointee.codecpar
        guard let parameters, let codec = Self.codec(parameters.pointee.codec_id) else {
            throw WireFailure(.notRecognised, "this machine's FFmpeg has no decoder for its codec")
        }
        frame = av_frame_alloc()
        context = avcodec_alloc_context3(codec)
        guard let context, frame != nil, avcodec_parameters_to_context(context, parameters) >= 0 else {
            throw WireFailure(.broken, "no memory left")
        }
        context.pointee.pkt_timebase = container.timeBase
        context.pointee.thread_count = 1
        guard avcodec_open2(context, codec, nil) >= 0 else {
            throw WireFailure(.broken, "its decoder rejects it: it is damaged or of an unsupported kind")
        }
    }

    /// FFmpeg 7.1's own decoder of Speex gives twice the frames of wide-band speech.
    private static func codec(_ id: AVCodecID) -> UnsafePointer<AVCodec>? {
        let speex = id == AV_CODEC_ID_SPEEX ? avcodec_find_decoder_by_name("libspeex") : nil
        return speex ?? avcodec_find_decoder(id)
    }

    deinit {
        avcodec_free_context(&context)
        av_frame_free(&frame)
    }

    /// Offset in the source of the last packet that was sent; nil: unknown.
    private(set) var packetPosition: Int64?

    /// Sends the container's packet to the decoder; skips a broken packet.
    func send(_ container: Container) {
        packetPosition = container.packetPosition
        let result = avcodec_send_packet(context, container.packet)
        failures = result < 0 && result != ffmpeg_error_again ? failures + 1 : 0
    }

    /// Marks the end of the packets: the decoder then returns the frames that it still holds.
    func sendEnd() { avcodec_send_packet(context, nil) }

    /// Takes the next frame; false: the decoder needs another packet. Throws `WireFailure`.
    func receive() throws(WireFailure) -> Bool {
        let result = avcodec_receive_frame(context, frame)
        if result == 0 { return frame?.pointee.sample_rate ?? 0 > 0 }
        if result != ffmpeg_error_again, result != ffmpeg_error_end { failures += 1 }
        guard failures < Self.maximumFailures else { throw WireFailure(.broken, "it is too damaged to decode") }
        return false
    }

    /// Drops buffered packets and frames, for a jump.
    func flush() {
        avcodec_flush_buffers(context)
        failures = 0
    }

    /// Samples of each channel in the frame.
    var frameCount: Int { Int(frame?.pointee.nb_samples ?? 0) }

    /// Frames a second.
    var frameRate: Int { Int(frame?.pointee.sample_rate ?? 0) }

    /// The frame's time in units of the stream; nil: unknown.
    var frameTime: Int64? {
        guard let time = frame?.pointee.best_effort_timestamp, time != ffmpeg_no_time else { return nil }
        return time
    }

    /// Frames before a target at which decoding must begin to be exact at the target: the overlap of the coding, with a
    /// margin.
    var preroll: Int64 {
        guard let context else { return 0 }
        switch context.pointee.codec_id {
        case AV_CODEC_ID_ALAC, AV_CODEC_ID_FLAC, AV_CODEC_ID_WAVPACK, AV_CODEC_ID_TTA, AV_CODEC_ID_APE: return 0
        default: return max(8 * Int64(context.pointee.frame_size), Int64(context.pointee.sample_rate) / 4)
        }
    }

    /// Bits of a sample in the source; 0: the coding has none.
    var bitsPerSample: Int {
        guard let context else { return 0 }
        let own = Int(context.pointee.bits_per_raw_sample)
        switch context.pointee.codec_id {
        case AV_CODEC_ID_ALAC, AV_CODEC_ID_FLAC, AV_CODEC_ID_WAVPACK, AV_CODEC_ID_TTA, AV_CODEC_ID_APE,
            AV_CODEC_ID_WMALOSSLESS, AV_CODEC_ID_TAK, AV_CODEC_ID_MLP, AV_CODEC_ID_TRUEHD:
            return own > 0 ? own : Int(context.pointee.bits_per_coded_sample)
        default: return 0
        }
    }

    /// Name of the coding, in the spelling of its makers.
    var codecName: String {
        guard let context else { return "" }
        let short = String(cString: avcodec_get_name(context.pointee.codec_id))
        return Self.names[short] ?? short.uppercased()
    }

    private static let names = [
        "mp3": "MP3", "aac": "AAC", "alac": "ALAC", "flac": "FLAC", "vorbis": "Vorbis", "opus": "Opus",
        "wmav1": "WMA", "wmav2": "WMA", "wmapro": "WMA Pro", "wmalossless": "WMA Lossless", "wmavoice": "WMA Voice",
        "ape": "Monkey's Audio", "wavpack": "WavPack", "musepack7": "Musepack", "musepack8": "Musepack",
        "tta": "True Audio", "ac3": "AC-3", "eac3": "E-AC-3", "dsd_lsbf": "DSD", "dsd_msbf": "DSD",
        "dsd_lsbf_planar": "DSD", "dsd_msbf_planar": "DSD", "truehd": "TrueHD", "speex": "Speex",
        "amr_nb": "AMR", "amr_wb": "AMR-WB", "shorten": "Shorten", "nellymoser": "Nellymoser",
        "mp2": "MPEG audio", "mp1": "MPEG audio",
    ]
}

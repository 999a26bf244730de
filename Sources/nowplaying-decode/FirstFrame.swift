import CFFmpeg
import ChildDecoding

/// The first frame of a short film, as a still picture.
enum FirstFrame {
    /// Demuxers of short films. Only here do film decoders read foreign bytes, in a process without other rights.
    private static let demuxers = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,gif"
    private static let decoders = "h264,hevc,vp8,vp9,libdav1d,av1,mpeg4,gif"
    /// Maximum number of pixels of a frame.
    private static let maximumPixels = 8192 * 8192
    /// Maximum number of packets to read for the first frame.
    private static let maximumPackets = 500

    /// The picture, encoded. Throws `WireFailure`.
    static func picture(_ input: any MediaInput) throws(WireFailure) -> [UInt8] {
        let file = try OpenFile(input, demuxers: demuxers, decoders: decoders)
        let stream = file.streams.first {
            $0.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_VIDEO
                && $0.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
        }
        guard let stream else { throw WireFailure(.notRecognised, "it contains no film") }
        guard let frame = try decoded(file, stream) else { throw WireFailure(.broken, "it contains no picture") }
        defer { free(frame) }
        return try StillEncoder.encoded(frame)
    }

    private static func free(_ frame: UnsafeMutablePointer<AVFrame>) {
        var frame: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&frame)
    }

    /// The first frame, which the caller frees; nil: there is none.
    private static func decoded(
        _ file: OpenFile, _ stream: UnsafeMutablePointer<AVStream>
    ) throws(WireFailure) -> UnsafeMutablePointer<AVFrame>? {
        let allowed = decoders.split(separator: ",")
        guard let codec = avcodec_find_decoder(stream.pointee.codecpar.pointee.codec_id),
            allowed.contains(where: { $0 == String(cString: codec.pointee.name) })
        else { throw WireFailure(.notRecognised, "its film has an unknown codec") }
        var context = avcodec_alloc_context3(codec)
        var packet = av_packet_alloc()
        defer {
            avcodec_free_context(&context)
            av_packet_free(&packet)
        }
        guard let context, let packet else { throw WireFailure(.broken, "no memory left") }
        avcodec_parameters_to_context(context, stream.pointee.codecpar)
        context.pointee.thread_count = 1
        context.pointee.max_pixels = Int64(maximumPixels)
        guard avcodec_open2(context, codec, nil) == 0 else { throw WireFailure(.broken, "its film cannot be decoded") }
        let frame = av_frame_alloc()
        guard let frame else { throw WireFailure(.broken, "no memory left") }
        var isDraining = false
        for _ in 0..<maximumPackets {
            if avcodec_receive_frame(context, frame) == 0 { return frame }
            if isDraining { break }
            av_packet_unref(packet)
            if av_read_frame(file.context, packet) < 0 {
                isDraining = true
                avcodec_send_packet(context, nil)
            } else if packet.pointee.stream_index == stream.pointee.index {
                avcodec_send_packet(context, packet)
            }
        }
        free(frame)
        return nil
    }
}

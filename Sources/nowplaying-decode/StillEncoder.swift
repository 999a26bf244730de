import CFFmpeg
import ChildDecoding
import NowPlaying

/// Encodes a frame of a film as a JPEG, and one with transparent parts as a PNG. Colours are exact enough for a
/// preview: the encoder assumes the matrix of JPEG.
enum StillEncoder {
    /// Quality on FFmpeg's scale from 2, the best, to 31.
    private static let quality: Int32 = 4

    /// The picture. Throws `WireFailure`.
    static func encoded(_ frame: UnsafeMutablePointer<AVFrame>) throws(WireFailure) -> [UInt8] {
        let format = AVPixelFormat(frame.pointee.format)
        var still: UnsafeMutablePointer<AVFrame>? = av_frame_alloc()
        defer { av_frame_free(&still) }
        guard let still else { throw WireFailure(.broken, "no memory left") }
        still.pointee.width = frame.pointee.width
        still.pointee.height = frame.pointee.height
        if format == AV_PIX_FMT_BGRA {
            still.pointee.format = AV_PIX_FMT_RGBA.rawValue
            guard av_frame_get_buffer(still, 0) == 0 else { throw WireFailure(.broken, "no memory left") }
            copySwapped(frame, still)
            return try encode(still, "png")
        }
        if format == AV_PIX_FMT_GBRP {
            still.pointee.format = AV_PIX_FMT_RGB24.rawValue
            guard av_frame_get_buffer(still, 0) == 0 else { throw WireFailure(.broken, "no memory left") }
            copyPlanes(frame, still)
            return try encode(still, "png")
        }
        guard let target = planar[format.rawValue], let description = av_pix_fmt_desc_get(format) else {
            throw WireFailure(.notRecognised, "its film has an unknown pixel format")
        }
        still.pointee.format = target.rawValue
        still.pointee.color_range = AVCOL_RANGE_JPEG
        guard av_frame_get_buffer(still, 0) == 0 else { throw WireFailure(.broken, "no memory left") }
        let depth = Int(description.pointee.comp.0.depth)
        let isFull = frame.pointee.color_range == AVCOL_RANGE_JPEG || target == format
        let planes = [
            (frame.pointee.data.0, frame.pointee.linesize.0, still.pointee.data.0, still.pointee.linesize.0),
            (frame.pointee.data.1, frame.pointee.linesize.1, still.pointee.data.1, still.pointee.linesize.1),
            (frame.pointee.data.2, frame.pointee.linesize.2, still.pointee.data.2, still.pointee.linesize.2),
        ]
        for (number, plane) in planes.enumerated() {
            guard let from = plane.0, let to = plane.2 else { throw WireFailure(.broken, "a plane of it is missing") }
            let across = number == 0 ? 0 : Int32(description.pointee.log2_chroma_w)
            let down = number == 0 ? 0 : Int32(description.pointee.log2_chroma_h)
            let width = Int(-((-frame.pointee.width) >> across))
            let height = Int(-((-frame.pointee.height) >> down))
            let levels = table(depth: depth, isFull: isFull, isChroma: number > 0)
            for line in 0..<height {
                let source = from + line * Int(plane.1)
                let target = to + line * Int(plane.3)
                if depth == 8 {
                    for index in 0..<width { target[index] = levels[Int(source[index])] }
                } else {
                    for index in 0..<width {
                        let value = Int(source[2 * index]) | Int(source[2 * index + 1]) << 8
                        target[index] = levels[min(value, levels.count - 1)]
                    }
                }
            }
        }
        return try encode(still, "mjpeg")
    }

    /// Pixel formats of films, and the pixel formats for the JPEG encoder.
    private static let planar: [Int32: AVPixelFormat] = [
        AV_PIX_FMT_YUV420P.rawValue: AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ420P.rawValue: AV_PIX_FMT_YUVJ420P,
        AV_PIX_FMT_YUV422P.rawValue: AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ422P.rawValue: AV_PIX_FMT_YUVJ422P,
        AV_PIX_FMT_YUV444P.rawValue: AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUVJ444P.rawValue: AV_PIX_FMT_YUVJ444P,
        AV_PIX_FMT_YUV420P10LE.rawValue: AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUV422P10LE.rawValue: AV_PIX_FMT_YUVJ422P,
        AV_PIX_FMT_YUV444P10LE.rawValue: AV_PIX_FMT_YUVJ444P,
    ]

    /// Mapping of levels: films leave headroom at both ends (ITU-R BT.601), JPEG does not.
    private static func table(depth: Int, isFull: Bool, isChroma: Bool) -> [UInt8] {
        let shift = depth - 8
        return (0..<(1 << depth)).map { value in
            if isFull { return UInt8(value >> shift) }
            let level = Double(value) / Double(1 << shift)
            let wide = isChroma ? (level - 128) * 255 / 224 + 128 : (level - 16) * 255 / 219
            return UInt8(clamping: min(max(wide.rounded(), 0), 255))
        }
    }

    private static func copySwapped(_ frame: UnsafeMutablePointer<AVFrame>, _ still: UnsafeMutablePointer<AVFrame>) {
        guard let from = frame.pointee.data.0, let to = still.pointee.data.0 else { return }
        for line in 0..<Int(frame.pointee.height) {
            let source = from + line * Int(frame.pointee.linesize.0)
            let target = to + line * Int(still.pointee.linesize.0)
            for index in stride(from: 0, to: Int(frame.pointee.width) * 4, by: 4) {
                (target[index], target[index + 1], target[index + 2], target[index + 3]) =
                    (source[index + 2], source[index + 1], source[index], source[index + 3])
            }
        }
    }

    /// Copies green, blue and red, which have planes of their own.
    private static func copyPlanes(_ frame: UnsafeMutablePointer<AVFrame>, _ still: UnsafeMutablePointer<AVFrame>) {
        let data = frame.pointee.data
        let sizes = frame.pointee.linesize
        guard let green = data.0, let blue = data.1, let red = data.2, let to = still.pointee.data.0 else { return }
        for line in 0..<Int(frame.pointee.height) {
            let target = to + line * Int(still.pointee.linesize.0)
            for index in 0..<Int(frame.pointee.width) {
                target[3 * index] = red[line * Int(sizes.2) + index]
                target[3 * index + 1] = green[line * Int(sizes.0) + index]
                target[3 * index + 2] = blue[line * Int(sizes.1) + index]
            }
        }
    }

    private static func encode(_ still: UnsafeMutablePointer<AVFrame>, _ name: String) throws(WireFailure) -> [UInt8] {
        let failure = WireFailure(.broken, "cannot make a picture of it")
        guard let codec = avcodec_find_encoder_by_name(name) else { throw failure }
        var context = avcodec_alloc_context3(codec)
        var packet = av_packet_alloc()
        defer {
            avcodec_free_context(&context)
            av_packet_free(&packet)
        }
        guard let context, let packet else { throw failure }
        context.pointee.width = still.pointee.width
        context.pointee.height = still.pointee.height
        context.pointee.pix_fmt = AVPixelFormat(still.pointee.format)
        context.pointee.color_range = AVCOL_RANGE_JPEG
        context.pointee.time_base = AVRational(num: 1, den: 25)
        context.pointee.thread_count = 1
        context.pointee.flags |= AV_CODEC_FLAG_QSCALE
        context.pointee.global_quality = FF_QP2LAMBDA * quality
        still.pointee.quality = FF_QP2LAMBDA * quality
        still.pointee.pts = 0
        guard avcodec_open2(context, codec, nil) == 0, avcodec_send_frame(context, still) == 0,
            avcodec_send_frame(context, nil) == 0, avcodec_receive_packet(context, packet) == 0,
            let data = packet.pointee.data, (1...WirePicture.maximumBytes).contains(Int(packet.pointee.size))
        else { throw failure }
        return Array(UnsafeBufferPointer(start: data, count: Int(packet.pointee.size)))
    }
}

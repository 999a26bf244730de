import CFFmpeg
import ChildDecoding

/// Converts decoded frames to the announced format: interleaved, at one rate, with the same channels, even if the
/// stream changes its own format later.
final class Converter {
    /// Format of the output.
    let format: WireFormat
    private var context: OpaquePointer?
    private var layout = AVChannelLayout()
    private var source: (format: Int32, rate: Int32, channels: Int32) = (-1, 0, 0)
    private var bytes: [UInt8] = []

    /// Converts to the format nearest to that of the decoder's frame, or to `wanted`. Throws `WireFailure`.
    init(_ decoder: Decoder, _ wanted: WireFormat?) throws(WireFailure) {
        guard let frame = decoder.frame else { throw WireFailure(.broken, "no memory left") }
        if let wanted {
            format = wanted
        } else {
            let rate = Int(frame.pointee.sample_rate)
            guard rate >= WireFormat.sampleRates.lowerBound else {
                throw WireFailure(.broken, "its sample rate of \(rate) Hz is too high for a sound server")
            }
            format = WireFormat(
                sample: Self.sample(of: frame.pointee.format), sampleRate: min(rate, 384_000),
                positions: Self.positions(frame))
        }
        setLayout()
    }

    deinit {
        swr_free(&context)
        av_channel_layout_uninit(&layout)
    }

    private static func sample(of format: Int32) -> WireFormat.Sample {
        switch AVSampleFormat(format) {
        case AV_SAMPLE_FMT_U8, AV_SAMPLE_FMT_U8P, AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P: .int16
        case AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P, AV_SAMPLE_FMT_S64, AV_SAMPLE_FMT_S64P: .int32
        default: .float32
        }
    }

    private static func positions(_ frame: UnsafeMutablePointer<AVFrame>) -> [UInt8] {
        let count = Int(frame.pointee.ch_layout.nb_channels)
        guard WireFormat.channelCounts.contains(count) else { return [0, 1] }
        var layout = AVChannelLayout()
        defer { av_channel_layout_uninit(&layout) }
        if frame.pointee.ch_layout.order == AV_CHANNEL_ORDER_NATIVE {
            av_channel_layout_copy(&layout, &frame.pointee.ch_layout)
        } else {
            av_channel_layout_default(&layout, Int32(count))
        }
        if count == 1 { return [2] }
        return (0..<count).map { index in
            let channel = av_channel_layout_channel_from_index(&layout, UInt32(index)).rawValue
            return channel >= 0 && channel < 18 ? UInt8(channel) : 255
        }
    }

    private func setLayout() {
        let mask = format.positions.reduce(UInt64(0)) { $0 | ($1 < 64 ? 1 << UInt64($1) : 0) }
        if mask.nonzeroBitCount == format.positions.count {
            av_channel_layout_from_mask(&layout, mask)
        } else {
            av_channel_layout_default(&layout, Int32(format.positions.count))
        }
    }

    /// Drops buffered frames, for a jump.
    func reset() {
        swr_free(&context)
        source = (-1, 0, 0)
    }

    /// Converts the frames `from` to `to` of the decoder's frame. The result is valid until the next call. Throws
    /// `WireFailure`.
    func convert(_ decoder: Decoder, from: Int, to: Int) throws(WireFailure) -> UnsafeRawBufferPointer? {
        guard let frame = decoder.frame else { return nil }
        let now = (frame.pointee.format, frame.pointee.sample_rate, frame.pointee.ch_layout.nb_channels)
        if context == nil || now != source { try prepare(frame, now) }
        let count = to - from
        let room = Int(swr_get_out_samples(context, Int32(count)))
        guard room >= 0, room < 1 << 22 else { throw WireFailure(.broken, "it cannot be converted") }
        if bytes.count < room * format.bytesPerFrame {
            bytes = [UInt8](repeating: 0, count: room * format.bytesPerFrame)
        }
        let planes = av_sample_fmt_is_planar(AVSampleFormat(now.0)) != 0 ? Int(now.2) : 1
        let step = Int(av_get_bytes_per_sample(AVSampleFormat(now.0))) * (planes == 1 ? Int(now.2) : 1)
        var inputs: [UnsafePointer<UInt8>?] = (0..<planes).map { plane in
            frame.pointee.extended_data[plane].map { UnsafePointer($0 + from * step) }
        }
        let done = bytes.withUnsafeMutableBytes { target -> Int32 in
            var output: UnsafeMutablePointer<UInt8>? = target.bindMemory(to: UInt8.self).baseAddress
            return swr_convert(context, &output, Int32(room), &inputs, Int32(count))
        }
        guard done >= 0 else { throw WireFailure(.broken, "it cannot be converted") }
        return bytes.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[..<(Int(done) * format.bytesPerFrame)]) }
    }

    private func prepare(
        _ frame: UnsafeMutablePointer<AVFrame>, _ now: (Int32, Int32, Int32)
    ) throws(WireFailure) {
        swr_free(&context)
        var input = AVChannelLayout()
        defer { av_channel_layout_uninit(&input) }
        if frame.pointee.ch_layout.order == AV_CHANNEL_ORDER_NATIVE {
            av_channel_layout_copy(&input, &frame.pointee.ch_layout)
        } else if Int(now.2) == format.positions.count {
            av_channel_layout_copy(&input, &layout)
        } else {
            av_channel_layout_default(&input, now.2)
        }
        let target: AVSampleFormat
        switch format.sample {
        case .int16: target = AV_SAMPLE_FMT_S16
        case .int32: target = AV_SAMPLE_FMT_S32
        case .float32: target = AV_SAMPLE_FMT_FLT
        }
        swr_alloc_set_opts2(
            &context, &layout, target, Int32(format.sampleRate), &input, AVSampleFormat(now.0), now.1, 0, nil)
        guard context != nil, swr_init(context) >= 0 else { throw WireFailure(.broken, "it cannot be converted") }
        source = now
    }
}

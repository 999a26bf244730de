import CFFmpeg
import ChildDecoding
import Glibc
import NowPlaying

/// An open container: FFmpeg's demuxer over an input of this program. The demuxer opens nothing itself.
final class Container {
    private var context: UnsafeMutablePointer<AVFormatContext>?
    private let io: InputContext
    private let segments: SegmentSource?
    private let network: HTTPInput?
    /// Offsets of the frames of a file on the network whose container has no table of them; nil: FFmpeg jumps itself.
    private(set) var layout: MPEGLayout?
    /// Frames of a stream of MPEG audio by its header, which FFmpeg only believes with a length; nil: unknown.
    private(set) var statedLength: Int64?
    /// Address of the HLS playlist; nil: the source is no such playlist.
    private let address: String?
    private(set) var packet: UnsafeMutablePointer<AVPacket>?
    /// The audio stream to decode.
    private(set) var stream: UnsafeMutablePointer<AVStream>

    /// Bytes that FFmpeg may probe to recognise a source.
    private static let probeBytes: Int64 = 1 << 20

    /// Opens a container and chooses its audio. Throws `WireFailure`.
    convenience init(_ input: any MediaInput) throws(WireFailure) {
        guard let list = input as? HTTPInput, list.isSegmented else {
            try self.init(input, nil, address: nil)
            return
        }
        let segments = try SegmentSource(list)
        try self.init(segments.begin(at: nil), segments, address: list.address)
    }

    /// The same HLS playlist, reopened from the part on that plays at this second. Throws `WireFailure`.
    func reopened(at seconds: Double) throws(WireFailure) -> Container {
        guard let segments else { throw WireFailure(.broken, "it does not support seeking") }
        close()
        return try Container(segments.begin(at: seconds), segments, address: address)
    }

    private init(_ input: any MediaInput, _ segments: SegmentSource?, address: String?) throws(WireFailure) {
        let network = input as? HTTPInput
        let isLive = network?.isLive ?? false
        self.segments = segments
        self.network = network
        self.address = address
        io = try InputContext(input)
        packet = av_packet_alloc()
        guard packet != nil, let new = avformat_alloc_context() else {
            throw WireFailure(.broken, "no memory left")
        }
        new.pointee.pb = io.context
        new.pointee.flags |= AVFMT_FLAG_CUSTOM_IO | (isLive ? AVFMT_FLAG_NOBUFFER : 0)
        new.pointee.probesize = Self.probeBytes
        new.pointee.max_analyze_duration = (segments == nil ? 5 : 2) * Int64(AV_TIME_BASE)
        new.pointee.max_streams = 64
        // The demuxer must not open files to which a container refers.
        new.pointee.io_open = { _, _, _, _, _ in ffmpeg_error_io }
        av_opt_set(new, "protocol_whitelist", "none", 0)
        // The demuxer for HLS is allowed only for a playlist that the daemon's own reader recognised.
        av_opt_set(new, "format_whitelist", KnownFormats.demuxers + (segments == nil ? "" : ",hls"), 0)
        av_opt_set(new, "codec_whitelist", KnownFormats.decoders, 0)
        var format: UnsafePointer<AVInputFormat>?
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        if let segments {
            segments.attach(to: new)
            format = av_find_input_format("hls")
            // The connections are ours, so FFmpeg cannot reuse them. The content of a part, not its name, decides its
            // format.
            for name in ["http_persistent", "http_multiple", "extension_picky"] { av_dict_set(&options, name, "0", 0) }
        } else if isLive, let network, let name = StreamKind.demuxer(network.peek(), network.station.contentType) {
            format = av_find_input_format(name)
        }
        // On failure FFmpeg frees the context.
        var opening: UnsafeMutablePointer<AVFormatContext>? = new
        let result = avformat_open_input(&opening, address, format, &options)
        guard result == 0, let context = opening else {
            throw network?.failure ?? segments?.failure ?? Self.jumpFailure(io, network) ?? Self.notRecognised(result)
        }
        // A container that declares its streams needs no probing.
        if format == nil || segments != nil || context.pointee.nb_streams == 0 {
            avformat_find_stream_info(context, nil)
        }
        let best = Self.audio(of: context)
        guard best >= 0, let stream = context.pointee.streams[Int(best)] else {
            avformat_close_input(&opening)
            throw network?.failure ?? segments?.failure ?? Self.jumpFailure(io, network)
                ?? WireFailure(.notRecognised, "it contains no audio")
        }
        self.context = context
        self.stream = stream
        for index in 0..<Int(context.pointee.nb_streams) where index != Int(best) {
            context.pointee.streams[index]?.pointee.discard = AVDISCARD_ALL
        }
        segments?.isOpened(isWhole: !isEndless)
        if let network, formatName == "mp3" {
            let first = network.firstFrames
            let found = MPEGLayout(first.bytes, at: first.offset, end: network.size ?? .max >> 8)
            statedLength = found?.statedSamples
            if network.isSeekable, network.size != nil { layout = found }
        }
    }

    deinit {
        close()
        av_packet_free(&packet)
    }

    private func close() { avformat_close_input(&context) }

    /// Index of the audio stream; negative: there is none. FFmpeg chooses only among the probed streams.
    private static func audio(of context: UnsafeMutablePointer<AVFormatContext>) -> Int32 {
        let best = av_find_best_stream(context, AVMEDIA_TYPE_AUDIO, -1, -1, nil, 0)
        if best >= 0 { return best }
        let first = (0..<Int(context.pointee.nb_streams)).first {
            context.pointee.streams[$0]?.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO
        }
        return first.map(Int32.init) ?? best
    }

    /// Failure of a source that needs jumps which its server does not support; nil: it needs none.
    private static func jumpFailure(_ io: InputContext, _ network: HTTPInput?) -> WireFailure? {
        guard io.refusedJump, network?.sendsNoParts == true else { return nil }
        return WireFailure(
            .unavailable,
            "its index is at its end, and its server does not support range requests: download it, or convert it with the index "
                + "first (faststart)")
    }

    /// The same for this source after its opening.
    var jumpFailure: WireFailure? { Self.jumpFailure(io, network) }

    private static func notRecognised(_ code: Int32) -> WireFailure {
        code == ffmpeg_error_io
            ? WireFailure(.lost, "it cannot be read")
            : WireFailure(.notRecognised, "its content is not a supported audio format")
    }

    /// True if the source is a finite list of parts.
    var hasParts: Bool { segments != nil && !isEndless }

    /// Seconds from the beginning of the source to the first part that is read.
    var beginning: Double { segments?.beginning ?? 0 }

    /// Failure of the last part; nil: it did not fail, or the source has no parts.
    var segmentFailure: WireFailure? { segments?.failure }

    /// FFmpeg's name of the container.
    var formatName: String { context?.pointee.iformat.map { String(cString: $0.pointee.name) } ?? "" }

    /// True if its length is unknown.
    var isEndless: Bool { context?.pointee.duration == ffmpeg_no_time }

    /// Seconds of one unit of the stream's times.
    var timeBase: AVRational { stream.pointee.time_base }

    /// Bits of the stream's times.
    var timeBits: Int { Int(stream.pointee.pts_wrap_bits) }

    /// Seconds of the whole source; nil: unknown.
    var wholeDuration: Double? {
        guard let duration = context?.pointee.duration, duration != ffmpeg_no_time, duration > 0 else { return nil }
        return Double(duration) / Double(AV_TIME_BASE)
    }

    /// Value of a tag of the container, by FFmpeg's name.
    func tag(_ name: String) -> String? { Tags.value(name, of: context?.pointee.metadata) }

    /// Units of the stream's times in the whole stream; nil: unknown.
    var duration: Int64? {
        stream.pointee.duration == ffmpeg_no_time || stream.pointee.duration <= 0 ? nil : stream.pointee.duration
    }

    /// The first time of the stream, in its units.
    var startTime: Int64 { stream.pointee.start_time == ffmpeg_no_time ? 0 : stream.pointee.start_time }

    /// Bits a second; 0: unknown.
    func bitRate(_ decoder: Decoder) -> Int {
        let own = stream.pointee.codecpar.pointee.bit_rate
        return Int(own > 0 ? own : max(0, context?.pointee.bit_rate ?? 0))
    }

    /// Reads the next packet of the stream. Returns 0, or an error number of FFmpeg.
    func readPacket() -> Int32 {
        guard let context, let packet else { return ffmpeg_error_end }
        while true {
            av_packet_unref(packet)
            let result = av_read_frame(context, packet)
            if result < 0 || packet.pointee.stream_index == stream.pointee.index { return result }
        }
    }

    /// Offset of the last packet in the input; nil: unknown.
    var packetPosition: Int64? { packet.flatMap { $0.pointee.pos >= 0 ? $0.pointee.pos : nil } }

    /// Allows reading after a command interrupted it.
    func clearError() { io.clearError() }

    /// Seeks to at least `preroll` frames before this frame of the stream. Throws `WireFailure`.
    func seek(to frame: Int64, rate: Int, preroll: Int64) throws(WireFailure) {
        clearError()
        if let layout { return try jump(to: frame.subtractingClamped(preroll), layout) }
        let unit = AVRational(num: 1, den: Int32(rate))
        // The frames that an encoder put before the first one have negative times. Decoding the first frame needs them.
        let wanted = av_rescale_q(frame.subtractingClamped(preroll), unit, timeBase).addingClamped(startTime)
        guard let context else { return }
        for target in wanted < startTime ? [wanted, startTime] : [wanted] {
            if avformat_seek_file(context, stream.pointee.index, .min, target, target, 0) >= 0 { return }
        }
        throw WireFailure(.broken, "cannot seek to this position in it")
    }

    /// First frame of the item counted from the first frame of audio: the encoder's delay.
    func delay(rate: Int) -> Int64 {
        av_rescale_q(startTime, timeBase, AVRational(num: 1, den: Int32(clamping: rate)))
    }

    /// Jumps to the frame of MPEG audio with this frame of the item, without reading the frames before it. Throws
    /// `WireFailure`.
    private func jump(to frame: Int64, _ layout: MPEGLayout) throws(WireFailure) {
        guard let context else { return }
        let wanted = max(0, frame + delay(rate: Int(layout.sampleRate))) / layout.samplesPerFrame
        let offset = layout.offset(ofFrame: wanted)
        guard av_seek_frame(context, -1, offset, AVSEEK_FLAG_BYTE) >= 0 else {
            throw WireFailure(.broken, "cannot seek to this position in it")
        }
    }

    // MARK: Tags and chapters

    /// Tags of the container and of the stream.
    var tags: [WireTag] {
        Tags.read(context?.pointee.metadata) + Tags.read(stream.pointee.metadata)
    }

    /// Tags that came with the last packets; nil: none.
    func takeChangedTags() -> [WireTag]? {
        let own = stream.pointee.event_flags & AVSTREAM_EVENT_FLAG_METADATA_UPDATED != 0
        let whole = (context?.pointee.event_flags ?? 0) & AVFMT_EVENT_FLAG_METADATA_UPDATED != 0
        guard own || whole else { return nil }
        stream.pointee.event_flags &= ~AVSTREAM_EVENT_FLAG_METADATA_UPDATED
        context?.pointee.event_flags &= ~AVFMT_EVENT_FLAG_METADATA_UPDATED
        return tags
    }

    /// The chapters, in order.
    var chapters: [WireChapter] {
        guard let context, context.pointee.nb_chapters > 0 else { return [] }
        let count = min(Int(context.pointee.nb_chapters), WireChapter.maximumCount)
        return (0..<count).compactMap { index in
            guard let chapter = context.pointee.chapters[index] else { return nil }
            let microseconds = AVRational(num: 1, den: 1_000_000)
            let start = av_rescale_q(chapter.pointee.start, chapter.pointee.time_base, microseconds)
            let title = Tags.value("title", of: chapter.pointee.metadata)?.utf8CString.dropLast() ?? []
            guard start >= 0, start < 1 << 53 else { return nil }
            return WireChapter(start: start, title: title.map { UInt8(bitPattern: $0) })
        }
    }
}

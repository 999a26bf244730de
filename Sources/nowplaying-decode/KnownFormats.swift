import CFFmpeg
import ChildDecoding

/// The few of FFmpeg's hundreds of formats that may read bytes from strangers: containers and decoders of audio. Code that
/// decodes pictures, films and subtitles is not reached.
enum KnownFormats {
    /// Names of demuxers, as FFmpeg has them, with commas between.
    static let demuxers = DemuxerNames.allowed.joined(separator: ",")

    /// Names of the decoders of audio.
    static let decoders: String = {
        var names: [String] = []
        var state: UnsafeMutableRawPointer?
        while let codec = av_codec_iterate(&state) {
            guard av_codec_is_decoder(codec) != 0, codec.pointee.type == AVMEDIA_TYPE_AUDIO else { continue }
            names.append(String(cString: codec.pointee.name))
        }
        return names.joined(separator: ",")
    }()
}

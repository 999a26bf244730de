import CFFmpeg
import ChildDecoding

/// The FFmpeg formats that may read foreign bytes: a few containers and decoders of audio. Code that decodes pictures,
/// films and subtitles is out of reach.
enum KnownFormats {
    /// FFmpeg's names of demuxers, separated by commas.
    static let demuxers = DemuxerNames.allowed.joined(separator: ",")

    /// FFmpeg's names of the audio decoders, separated by commas.
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

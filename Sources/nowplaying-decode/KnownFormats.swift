import CFFmpeg

/// What of FFmpeg's hundreds of formats may read bytes from strangers: the containers of audio, and decoders of audio. What
/// decodes pictures, films and subtitles is not reached.
enum KnownFormats {
    /// Names of demuxers, as FFmpeg has them.
    static let demuxers = [
        "aac", "ac3", "aiff", "amr", "ape", "asf", "asf_o", "au", "caf", "dsf", "dts", "eac3", "flac", "hls", "iff",
        "loas", "matroska", "webm", "mlp", "mov", "mp4", "m4a", "3gp", "3g2", "mj2", "mp3", "mpc", "mpc8", "mpeg",
        "mpegts", "ogg", "oma", "rm", "shn", "tak", "truehd", "tta", "voc", "w64", "wav", "wv", "xwma",
    ].joined(separator: ",")

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

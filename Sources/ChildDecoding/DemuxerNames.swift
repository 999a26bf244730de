/// Demuxers of FFmpeg that may read foreign bytes. Each reads only its one source: none opens a second file, address or
/// device because of its content, as `concat`, `hls`, `dash`, `imf`, `sdp` or `image2` do. `mov` does so only if an
/// option enables it.
package enum DemuxerNames {
    /// FFmpeg's names.
    package static let allowed = [
        "aac", "ac3", "adx", "aiff", "amr", "apc", "ape", "asf", "asf_o", "ast", "au", "avi", "avr", "bfstm",
        "brstm", "caf", "codec2", "dsf", "dts", "dtshd", "eac3", "epaf", "flac", "flv", "hca", "hcom", "iff", "ilbc",
        "ircam", "kvag", "loas", "matroska", "webm", "mlp", "mov", "mp4", "m4a", "3gp", "3g2", "mj2", "mp3", "mpc",
        "mpc8", "mpeg", "mpegts", "msf", "mtaf", "nistsphere", "nut", "ogg", "oma", "pvf", "qcp", "rm", "shn", "sox",
        "spdif", "tak", "truehd", "tta", "vag", "voc", "vpk", "vqf", "w64", "wav", "wsd", "wv", "wve", "xvag",
        "xwma",
    ]
}

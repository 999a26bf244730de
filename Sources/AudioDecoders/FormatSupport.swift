/// A format of audio files, with its support in this version: an entry of the answer to `formats.list`.
package struct FormatSupport: Equatable, Sendable {
    /// The format's name for people.
    package let name: String
    /// Usual suffixes of its files; the content decides the format.
    package let endings: [String]
    /// True if this version plays it.
    package let plays: Bool
    /// The Debian package with the library that decodes it.
    package let package: String

    /// All known formats, those that play first.
    package static let all: [FormatSupport] =
        [
            ("FLAC", ["flac"], "libflac12"), ("FLAC in Ogg", ["oga"], "libflac12"),
            ("MP3", ["mp3"], "libmpg123-0"), ("MPEG layers I and II", ["mp1", "mp2", "mpa"], "libmpg123-0"),
            ("Ogg Vorbis", ["ogg", "oga"], "libvorbisfile3"), ("Ogg Opus", ["opus", "ogg"], "libopusfile0"),
            ("WAV", ["wav"], "libsndfile1"), ("RF64", ["wav", "rf64"], "libsndfile1"),
            ("W64", ["w64"], "libsndfile1"), ("AIFF", ["aif", "aiff", "aifc"], "libsndfile1"),
            ("AU", ["au", "snd"], "libsndfile1"), ("CAF", ["caf"], "libsndfile1"),
        ].map { FormatSupport(name: $0.0, endings: $0.1, plays: true, package: $0.2) } + ofChild

    /// Formats that nowplaying-decode decodes, with libraries of FFmpeg.
    private static let ofChild = [
        ("AAC", ["aac", "loas"]), ("MP4 (AAC, ALAC)", ["m4a", "m4b", "mp4"]), ("QuickTime", ["mov", "3gp"]),
        ("Windows Media", ["wma", "asf"]), ("xWMA", ["xwma"]), ("Monkey's Audio", ["ape"]), ("WavPack", ["wv"]),
        ("Musepack", ["mpc"]), ("True Audio", ["tta"]), ("TAK", ["tak"]), ("Shorten", ["shn"]),
        ("DSD", ["dsf", "dff", "wsd"]), ("Matroska", ["mka", "mkv", "webm"]), ("Ogg Speex", ["spx", "ogg"]),
        ("AC-3", ["ac3"]), ("E-AC-3", ["eac3", "ec3"]), ("DTS", ["dts", "dtshd"]), ("MLP", ["mlp"]),
        ("TrueHD", ["thd", "truehd"]), ("AMR", ["amr", "awb"]), ("VOC", ["voc"]),
        ("AIFF-C with compressed audio", ["aifc"]), ("WAV with compressed audio", ["wav"]),
        ("CAF with compressed audio", ["caf"]), ("AVI with sound", ["avi"]), ("Flash video with sound", ["flv"]),
        ("MPEG program stream", ["mpg", "vob"]), ("MPEG transport stream", ["ts", "m2t"]), ("NUT", ["nut"]),
        ("RealMedia", ["rm", "ra"]), ("OpenMG", ["oma", "aa3"]), ("QCP", ["qcp"]), ("iLBC", ["lbc"]),
        ("Codec 2", ["c2"]), ("VQF", ["vqf"]), ("ADX", ["adx"]), ("HCA", ["hca"]),
        ("IFF (8SVX, MAUD)", ["8svx", "iff"]),
        ("NIST Sphere", ["nist", "sph"]), ("IRCAM", ["sf", "ircam"]), ("SoX", ["sox"]), ("PVF", ["pvf"]),
        ("AVR", ["avr"]),
        ("HCOM", ["hcom"]), ("Psion WVE", ["wve"]), ("PAF", ["paf"]), ("IEC 61937", ["spdif"]),
        ("Sound of games (APC, AST, BRSTM, BFSTM, KVAG, MSF, MTAF, VAG, VPK, XVAG)", ["apc", "ast", "brstm", "vag"]),
    ].map {
        FormatSupport(name: $0.0, endings: $0.1, plays: DecodeProgram.path != nil, package: "libavformat59")
    }
}

import CLateLibraries
import CLibraryNames

/// A format of audio files, with its support on this system: an entry of the answer to `formats.list`.
package struct FormatSupport: Equatable, Sendable {
    /// The format's name for people.
    package let name: String
    /// Usual suffixes of its files; the content decides the format.
    package let endings: [String]
    /// True if its decoder can be loaded.
    package let plays: Bool
    /// The Debian package with the library that decodes it.
    package let package: String

    /// The decoders, each with a library of its own.
    private enum Decoder: CaseIterable {
        case flac, mpg123, vorbis, opus, sndFile, child

        /// Loads the library, or starts the child for a moment.
        func isThere(_ program: String?) -> Bool {
            switch self {
            case .flac: late_flac_is_there() != 0
            case .mpg123: late_mpg123_is_there() != 0
            case .vorbis: late_vorbis_is_there() != 0
            case .opus: late_opus_is_there() != 0
            case .sndFile: late_sndfile_is_there() != 0
            case .child: program.map(DecodeProgram.starts) ?? false
            }
        }

        var package: String {
            switch self {
            case .flac: LIBRARY_FLAC_PACKAGE
            case .mpg123: LIBRARY_MPG123_PACKAGE
            case .vorbis: LIBRARY_VORBISFILE_PACKAGE
            case .opus: LIBRARY_OPUSFILE_PACKAGE
            case .sndFile: LIBRARY_SNDFILE_PACKAGE
            case .child: LIBRARY_AVFORMAT_PACKAGE
            }
        }
    }

    /// All known formats, those of this process first. `program`: nowplaying-decode; nil: there is none. Blocks: it loads
    /// libraries and starts the program.
    package static func all(program: String? = DecodeProgram.path) -> [FormatSupport] {
        let loaded = Set(Decoder.allCases.filter { $0.isThere(program) })
        return (own + ofChild.map { ($0.0, $0.1, .child) }).map { name, endings, decoder in
            FormatSupport(
                name: name, endings: endings, plays: loaded.contains(decoder), package: decoder.package)
        }
    }

    /// Formats that this process decodes.
    private static let own: [(String, [String], Decoder)] = [
        ("FLAC", ["flac"], .flac), ("FLAC in Ogg", ["oga"], .flac), ("MP3", ["mp3"], .mpg123),
        ("MPEG layers I and II", ["mp1", "mp2", "mpa"], .mpg123), ("Ogg Vorbis", ["ogg", "oga"], .vorbis),
        ("Ogg Opus", ["opus", "ogg"], .opus), ("WAV", ["wav"], .sndFile), ("RF64", ["wav", "rf64"], .sndFile),
        ("W64", ["w64"], .sndFile), ("AIFF", ["aif", "aiff", "aifc"], .sndFile), ("AU", ["au", "snd"], .sndFile),
        ("CAF", ["caf"], .sndFile),
    ]

    /// Formats that nowplaying-decode decodes, with libraries of FFmpeg.
    private static let ofChild: [(String, [String])] = [
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
    ]
}

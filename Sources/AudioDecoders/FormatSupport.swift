/// A format of audio files, and whether it can be played: what `formats.list` answers.
package struct FormatSupport: Equatable, Sendable {
    /// The format's name for people.
    package let name: String
    /// What names of such files usually end with; what a file is, is judged by its content.
    package let endings: [String]
    /// Whether this version plays it.
    package let plays: Bool
    /// The Debian package with the library that decodes it.
    package let package: String

    /// All formats that are known, those that play first.
    package static let all: [FormatSupport] =
        [
            ("FLAC", ["flac"], "libflac12"), ("FLAC in Ogg", ["oga"], "libflac12"),
            ("MP3", ["mp3"], "libmpg123-0"), ("MPEG layers I and II", ["mp1", "mp2", "mpa"], "libmpg123-0"),
            ("Ogg Vorbis", ["ogg", "oga"], "libvorbisfile3"), ("Ogg Opus", ["opus", "ogg"], "libopusfile0"),
            ("WAV", ["wav"], "libsndfile1"), ("RF64", ["wav", "rf64"], "libsndfile1"),
            ("W64", ["w64"], "libsndfile1"), ("AIFF", ["aif", "aiff", "aifc"], "libsndfile1"),
            ("AU", ["au", "snd"], "libsndfile1"), ("CAF", ["caf"], "libsndfile1"),
        ].map { FormatSupport(name: $0.0, endings: $0.1, plays: true, package: $0.2) } + foreign + others

    /// What nowplaying-decode decodes, with libraries of FFmpeg.
    private static let foreign = [
        ("AAC", ["aac"]), ("MP4 (AAC, ALAC)", ["m4a", "m4b", "mp4"]), ("Windows Media", ["wma", "asf"]),
        ("Monkey's Audio", ["ape"]), ("WavPack", ["wv"]), ("Musepack", ["mpc"]), ("True Audio", ["tta"]),
        ("DSD", ["dsf", "dff"]), ("Matroska", ["mka", "webm"]),
    ].map {
        FormatSupport(name: $0.0, endings: $0.1, plays: ForeignProgram.path != nil, package: "libavformat59")
    }

    /// What only libraries of FFmpeg decode, and nothing of ours asks them for.
    private static let others = [("Speex", ["spx"]), ("AMR", ["amr"])].map {
        FormatSupport(name: $0.0, endings: $0.1, plays: false, package: "libavformat59")
    }
}

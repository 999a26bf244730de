import CLibraryNames
import ControlProtocol
import Glibc
import NowPlayingClient

/// Checks of the libraries that open at their first use, and of the programs that decode and read tags.
enum DecoderChecks {
    /// A library that no program links.
    private struct Library {
        let file: String
        let package: String
        let level: Finding.Level
        /// The consequence if it is missing.
        let meaning: String
    }

    private static let libraries = [
        Library(file: LIBRARY_FLAC_FILE, package: LIBRARY_FLAC_PACKAGE, level: .fault, meaning: "no FLAC file plays"),
        Library(
            file: LIBRARY_MPG123_FILE, package: LIBRARY_MPG123_PACKAGE, level: .fault, meaning: "no MP3 file plays"),
        Library(
            file: LIBRARY_VORBISFILE_FILE, package: LIBRARY_VORBISFILE_PACKAGE, level: .fault,
            meaning: "no Ogg Vorbis file plays"),
        Library(
            file: LIBRARY_OPUSFILE_FILE, package: LIBRARY_OPUSFILE_PACKAGE, level: .fault,
            meaning: "no Ogg Opus file plays"),
        Library(
            file: LIBRARY_SNDFILE_FILE, package: LIBRARY_SNDFILE_PACKAGE, level: .fault,
            meaning: "no WAV, AIFF, AU or CAF file plays"),
        Library(
            file: LIBRARY_PULSE_FILE, package: LIBRARY_PULSE_PACKAGE, level: .fault,
            meaning: "the daemon reaches no sound server"),
        Library(
            file: LIBRARY_SQLITE3_FILE, package: LIBRARY_SQLITE3_PACKAGE, level: .warning,
            meaning: "likes, ratings, bookmarks and counts are not kept"),
        Library(
            file: LIBRARY_EXPAT_FILE, package: LIBRARY_EXPAT_PACKAGE, level: .warning,
            meaning: "playlists in XML (XSPF, ASX, WPL) cannot be read"),
        Library(
            file: LIBRARY_SONIC_FILE, package: LIBRARY_SONIC_PACKAGE, level: .warning,
            meaning: "no rate other than 1 plays"),
        Library(
            file: LIBRARY_SOXR_FILE, package: LIBRARY_SOXR_PACKAGE, level: .warning,
            meaning: "outputs of a fixed format (pipe, file, Snapcast) play only items of their own sample rate"),
        Library(
            file: LIBRARY_PULSE_SIMPLE_FILE, package: LIBRARY_PULSE_SIMPLE_PACKAGE, level: .warning,
            meaning: "nowplayingctl measure-delay cannot record"),
    ]

    /// Loads each library as the daemon does.
    static func lateLibraries(_ control: ServiceControl) -> [Finding] {
        let missing = libraries.filter { dlopen($0.file, RTLD_LAZY | RTLD_LOCAL) == nil }
        guard !missing.isEmpty else { return [Finding("libraries", .ok, "all \(libraries.count) can be loaded")] }
        return missing.map {
            Finding(
                "libraries", $0.level, "cannot load \($0.file)", meaning: $0.meaning,
                action: "sudo apt install \($0.package); \(control.command) restart nowplayingd")
        }
    }

    /// The child that reads tags of items that were not played.
    static func titles(_ diagnosis: JSONValue?) -> Finding? {
        guard let diagnosis, let program = diagnosis["tagsProgram"] else { return nil }
        let meaning = "titles and times of items that were not played are missing"
        guard let path = program.stringValue else {
            return Finding(
                "titles", .warning, "nowplaying-tags is not installed", meaning: meaning, action: "make install")
        }
        if let finding = broken("titles", path, meaning, LIBRARY_FLAC_PACKAGE) { return finding }
        guard diagnosis["seccomp"]?.boolValue != false else { return nil }
        return Finding("titles", .ok, "\(TerminalText.safe(path)) reads tags in a sandbox")
    }

    /// A consequence of a missing FFmpeg for the library.
    static let noLoudness = "the loudness of files without tags is not measured"

    /// The lines that make nowplaying-decode start on this release.
    static let repair =
        "sudo apt install \(LIBRARY_AVFORMAT_PACKAGE); without nowplaying-decode, in the folder of the sources: "
        + "Scripts/packages decode && make install"

    /// The child for foreign formats.
    static func confinement(_ diagnosis: JSONValue?) -> Finding? {
        guard let diagnosis else { return nil }
        let meaning = "no radio, no addresses, no AAC, ALAC, WMA and the like; \(noLoudness)"
        guard let path = diagnosis["decodeProgram"]?.stringValue else {
            return Finding(
                "confinement", .warning, "nowplaying-decode is not installed", meaning: meaning,
                action: "in the folder of the sources: Scripts/packages decode && make install")
        }
        if let finding = broken("confinement", path, meaning, LIBRARY_AVFORMAT_PACKAGE) { return finding }
        if diagnosis["seccomp"]?.boolValue == false {
            return Finding(
                "confinement", .fault, "this kernel has no seccomp",
                meaning: "nowplaying-decode opens nothing without its sandbox; \(noLoudness)",
                action: "boot a kernel with CONFIG_SECCOMP_FILTER")
        }
        if diagnosis["landlock"]?.boolValue == false {
            return Finding(
                "confinement", .note, "this kernel has no Landlock",
                meaning: "nowplaying-decode cannot start programs, but can read the files of the daemon's user",
                action: "boot with lsm=landlock,… and CONFIG_SECURITY_LANDLOCK")
        }
        return Finding("confinement", .ok, "\(TerminalText.safe(path)) decodes other formats in a sandbox")
    }

    /// The fault of a program that does not start, with the words of the system; nil: it starts, or this user cannot see it.
    private static func broken(_ check: String, _ path: String, _ meaning: String, _ package: String) -> Finding? {
        guard Program.exists(path), let complaint = Program.complaint(of: [path, "--version"]) else { return nil }
        return Finding(
            check, .fault, TerminalText.safe(complaint.isEmpty ? "\(path) does not start" : complaint),
            meaning: meaning,
            action: "sudo apt install \(package); if there is none, build and install nowplayingd again on this system")
    }
}

import Glibc
import TestSupport
import Testing

/// Files in many formats, with tags, for a daemon that plays thousands of them.
struct ShortFiles: CustomTestStringConvertible, Sendable {
    /// Description of the files.
    let testDescription: String
    /// The line that makes each file of one sound: `WAVE` is the sound, `NAME` the file without its ending.
    private let lines: [[String]]
    /// The first sound is one of the files.
    private let withSound: Bool

    /// Files that the daemon decodes itself.
    static let own = ShortFiles(
        testDescription: "files of every kind that the daemon decodes",
        lines: [
            ["flac", "-s", "-f"] + comments("-T", ["TITLE", "ARTIST", "ALBUM"]) + ["WAVE", "-o", "NAME.flac"],
            ["flac", "-s", "-f", "--ogg", "-T", "TITLE=\(title)", "WAVE", "-o", "NAME.oga"],
            ["oggenc", "-Q", "-t", title, "-a", artist, "-l", album, "WAVE", "-o", "NAME.ogg"],
            ["opusenc", "--quiet", "--title", title, "--artist", artist, "--album", album, "WAVE", "NAME.opus"],
            ffmpeg + comments("-metadata", ["title", "artist", "album"]) + ["-ar", "44100", "NAME.mp3"],
            ffmpeg + ["NAME.aiff"],
        ], withSound: true)

    /// Files that a child decodes.
    static let foreign = ShortFiles(
        testDescription: "files of every kind that a child decodes",
        lines: [
            ffmpeg + comments("-metadata", ["title", "artist", "album"]) + ["-c:a", "aac", "NAME.m4a"],
            ffmpeg + comments("-metadata", ["title"]) + ["-c:a", "alac", "NAME-lossless.m4a"],
            ffmpeg + ["-c:a", "wavpack", "NAME.wv"],
            ffmpeg + ["-c:a", "tta", "NAME.tta"],
            ffmpeg + ["-c:a", "libopus", "-ar", "48000", "NAME.mka"],
        ], withSound: false)

    /// Writes them into a folder; their paths. `seconds`: how long those of each of the four sounds are.
    func write(into folder: TemporaryFolder, seconds: [Double] = [0.02, 0.02, 0.02, 0.02]) throws -> [String] {
        var result: [String] = []
        for ((rate, channels), length) in zip([(44_100, 2), (48_000, 2), (44_100, 1), (96_000, 2)], seconds) {
            let material = AudioMaterial.waves(
                frames: Int(Double(rate) * length), sampleRate: rate, channels: channels)
            let wave = folder.write(material.wave(), "\(rate)-\(channels).wav")
            if withSound { result.append(wave) }
            let name = folder.path("\(rate)-\(channels)")
            for line in lines {
                let words = line.map { word in
                    word == "WAVE" ? wave : word.hasPrefix("NAME") ? name + word.dropFirst(4) : word
                }
                try #require(AudioMaterial.run(words[0], Array(words.dropFirst())) == 0, "\(words)")
                result.append(words.last!)
            }
        }
        return result
    }

    private static let title = "A title that is long enough"
    private static let artist = "An artist with a name"
    private static let album = "And an album of some"
    private static let ffmpeg = ["ffmpeg", "-y", "-v", "error", "-i", "WAVE"]

    private static func comments(_ option: String, _ names: [String]) -> [String] {
        zip(names, [title, artist, album]).flatMap { [option, "\($0)=\($1)"] }
    }
}

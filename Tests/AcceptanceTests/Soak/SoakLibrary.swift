import ControlProtocol
import Glibc
import TestSupport
import Testing

/// Albums of files of every kind, with covers and lists of each kind of list.
struct SoakLibrary {
    /// File for announcements.
    let bell: String
    /// Two pieces that others play.
    let pieces: [String]
    /// No sound file, but called one.
    let broken: String
    private let albums: [String]
    private let lists: [String]
    private let files: [String]

    /// So many albums; an item lasts as `seconds` has it.
    init(in folder: TemporaryFolder, albums count: Int, seconds: [Double]) throws {
        folder.folder("originals")
        let foreign = RealDaemon.hasDecodeProgram ? try ShortFiles.foreign.write(into: folder, seconds: seconds) : []
        let originals = try ShortFiles.own.write(into: folder, seconds: seconds) + foreign
        let (short, long) = (seconds.min() ?? 1, seconds.max() ?? 1)
        bell = folder.silence("bell.wav", seconds: short, rate: 44100, channels: 2)
        pieces = ["one", "two"].map { folder.silence("\($0).wav", seconds: long, rate: 44100, channels: 2) }
        broken = folder.file("broken.flac", "fLaC and then nothing of the kind")
        var (albums, lists, files): ([String], [String], [String]) = ([], [], [])
        for number in 0..<count {
            let album = folder.folder("music/album \(number)")
            var own: [String] = []
            for (place, original) in originals.enumerated() {
                // One kind after the other, and not two of the same kind in the order of any two albums.
                let name = "\(100 + (place * 7 + number * 3) % originals.count)-\(place)"
                own.append("\(album)/\(name).\(original.split(separator: ".").last ?? "")")
                precondition(link(original, own[place]) == 0)
            }
            let size = 40 + number * 10
            let picture = ["-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=size=\(size)x\(size)", "-frames:v", "1"]
            try #require(AudioMaterial.run("ffmpeg", picture + ["\(album)/cover.png"]) == 0)
            albums.append(album)
            files += own
            lists += Self.lists(folder, number, own)
        }
        (self.albums, self.lists, self.files) = (albums, lists, files)
    }

    private static func lists(_ folder: TemporaryFolder, _ number: Int, _ files: [String]) -> [String] {
        let lines = files.map { "#EXTINF:4,Somebody - Something\n\($0)\n" }.joined()
        let entries = files.enumerated().map { "File\($0 + 1)=\($1)\n" }.joined()
        let tracks = files.map { "<track><location>file://\($0.replacing(" ", with: "%20"))</location></track>" }
        return [
            folder.file("lists/\(number).m3u8", "#EXTM3U\n" + lines),
            folder.file("lists/\(number).pls", "[playlist]\n\(entries)NumberOfEntries=\(files.count)\nVersion=2\n"),
            folder.file(
                "lists/\(number).xspf",
                "<?xml version=\"1.0\"?><playlist version=\"1\" xmlns=\"http://xspf.org/ns/0/\"><trackList>"
                    + tracks.joined() + "</trackList></playlist>"),
        ]
    }

    /// A list, a folder or some files, for `queue.add`.
    func list(_ numbers: inout SeededRandom) -> JSONValue {
        switch Int.random(in: 0..<4, using: &numbers) {
        case 0: [.string(albums.randomElement(using: &numbers)!)]
        case 1: .array((0..<30).map { _ in .string(files.randomElement(using: &numbers)!) })
        default: [.string(lists.randomElement(using: &numbers)!)]
        }
    }

    /// Any file.
    func file(_ numbers: inout SeededRandom) -> String { files.randomElement(using: &numbers)! }
}

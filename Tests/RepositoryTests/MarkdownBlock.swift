import Foundation
import Testing

/// A fenced block of a document: the text after the fence, and the lines in the block.
struct MarkdownBlock {
    let language: String
    let text: String

    /// All of them, of a file of the repository.
    static func all(of name: String) throws -> [MarkdownBlock] {
        let document = try String(contentsOfFile: ScriptRun.root + "/" + name, encoding: .utf8)
        var blocks: [MarkdownBlock] = []
        var language: String?
        var lines: [Substring] = []
        for line in document.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if let open = language {
                    blocks.append(MarkdownBlock(language: open, text: lines.joined(separator: "\n")))
                }
                language = language == nil ? String(line.dropFirst(3)) : nil
                lines = []
            } else {
                lines.append(line)
            }
        }
        try #require(language == nil, "a fence is open at the end")
        return blocks
    }

    /// A home folder with the music that the documents play.
    static func home() throws -> Scratch {
        let home = try Scratch()
        for name in ["album/1.wav", "album/2.wav", "album/3.wav", "single.wav"] {
            try home.write("Music/" + name, "")
            try wave(frames: 960_000).write(to: URL(fileURLWithPath: home.path + "/Music/" + name))
        }
        try wave(frames: 1600).write(to: URL(fileURLWithPath: home.path + "/Music/bell.wav"))
        // A picture of one pixel.
        let pixel: [UInt8] = [
            0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0x80, 0, 0, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1,
            0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B,
        ]
        for name in [
            "Music/album/cover.gif", "Music/cover.gif", "Music/album/cover-square.gif", "Music/cover-square.gif",
        ] {
            try Data(pixel).write(to: URL(fileURLWithPath: home.path + "/" + name))
        }
        return home
    }

    /// Adds the music that the documents find in the library, below `Music/Jazz` of a home folder. Returns the files of those
    /// that are to be liked.
    static func addJazz(to home: Scratch) throws -> [String] {
        let albums: [(artist: String, album: String, date: String)] = [
            ("Miles Davis", "Kind of Blue", "1959"), ("Ella Fitzgerald", "Ella in Rome", "1958"),
            ("Nina Simone", "Wild Is the Wind", "1966"),
        ]
        var others: [String] = []
        for (artist, album, date) in albums {
            for number in 1...3 {
                let path = home.path + "/Music/Jazz/\(album)/\(number).wav"
                try home.write("Music/Jazz/\(album)/\(number).wav", "")
                let title = album == "Kind of Blue" && number == 1 ? "So What" : "\(album) \(number)"
                let tags = [
                    ("INAM", title), ("IART", artist), ("IPRD", album), ("ICRD", date), ("IGNR", "Jazz"),
                    ("ITRK", "\(number)"),
                ]
                // Likes belong to contents, so they differ.
                try wave(frames: 960_000 + others.count * 10 + number, tags: tags)
                    .write(to: URL(fileURLWithPath: path))
                if artist != "Miles Davis" { others.append(path) }
            }
        }
        return others
    }

    /// Silence: 8 kHz, 8 bit, one channel; with texts of a chunk of information.
    private static func wave(frames count: Int, tags: [(String, String)] = []) -> Data {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> (8 * $0) & 255) } }
        var bytes = Array("WAVEfmt ".utf8) + little(16, 4)
        bytes += little(1, 2) + little(1, 2) + little(8000, 4) + little(8000, 4) + little(1, 2) + little(8, 2)
        if !tags.isEmpty {
            let texts = tags.flatMap { name, text -> [UInt8] in
                let value = Array(text.utf8) + [0]
                return Array(name.utf8) + little(value.count, 4) + value + (value.count % 2 == 0 ? [] : [0])
            }
            bytes += Array("LIST".utf8) + little(texts.count + 4, 4) + Array("INFO".utf8) + texts
        }
        bytes += Array("data".utf8) + little(count, 4) + [UInt8](repeating: 128, count: count + count % 2)
        return Data(Array("RIFF".utf8) + little(bytes.count, 4) + bytes)
    }
}

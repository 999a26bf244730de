import Foundation
import Testing

/// A fenced block of a document: what stands behind the fence, and the lines in it.
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

    /// Silence: 8 kHz, 8 bit, one channel.
    private static func wave(frames count: Int) -> Data {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> (8 * $0) & 255) } }
        var bytes = Array("RIFF".utf8) + little(36 + count, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
        bytes += little(1, 2) + little(1, 2) + little(8000, 4) + little(8000, 4) + little(1, 2) + little(8, 2)
        bytes += Array("data".utf8) + little(count, 4) + [UInt8](repeating: 128, count: count)
        return Data(bytes)
    }
}

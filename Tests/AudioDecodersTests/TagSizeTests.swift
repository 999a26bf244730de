import AudioCore
import AudioDecoders
import Glibc
import TestSupport
import Testing

/// Sizes, counts and offsets in tags that contradict each other: no reader of tags or pictures traps.
@Suite struct TagSizeTests {
    let folder = TemporaryFolder()

    /// A tag of this version with one picture frame, and MPEG frames behind it.
    private func picture(version: UInt8, flags: UInt8, content: [UInt8]) -> [UInt8] {
        var frame = ByteBuilder()
        frame.text(version == 2 ? "PIC" : "APIC")
        frame.big(content.count, version == 2 ? 3 : 4)
        if version > 2 { frame.bytes += [0, flags] }
        // Padding keeps the end of the frame away from that of the tag.
        frame.bytes += content + [UInt8](repeating: 0, count: 40)
        let size = (0..<4).map { UInt8(frame.bytes.count >> (21 - 7 * $0) & 0x7F) }
        let sound = (0..<3).flatMap { _ in [0xFF, 0xFB, 0x90, 0xC4] + [UInt8](repeating: 0, count: 413) }
        return Array("ID3".utf8) + [version, 0, 0] + size + frame.bytes + sound
    }

    private static let isNightly = getenv("NOWPLAYING_NIGHTLY") != nil
    /// Flags of a frame: all of them by night, else none, each one, and each two.
    private static let flags = (UInt8.min...UInt8.max).filter { Self.isNightly || $0.nonzeroBitCount <= 2 }
    /// Values of a changed byte.
    private static let edges: [UInt8] = Self.isNightly ? [0, 0x2D, 0x7F, 0x80, 0xFE, 0xFF] : [0, 0xFF]

    @Test(
        "a picture frame of no bytes, or of fewer than its flags announce, is no picture",
        arguments: [2, 3, 4] as [UInt8])
    func shortFrame(version: UInt8) throws {
        for flags in Self.flags {
            for count in 0...8 {
                let file = picture(version: version, flags: flags, content: [UInt8](repeating: 0, count: count))
                let found = try EmbeddedPicture.all(in: MediaFile(path: folder.write(file, "a.mp3")))
                #expect(found.flatMap(\.stretches).allSatisfy { $0.length > 0 }, "\(flags) \(count)")
                if count < 6 { #expect(found.isEmpty, "\(flags) \(count)") }
            }
        }
    }

    /// Small files with every kind of tag, and the part of each that is changed.
    private func seeds() throws -> [(name: String, bytes: [UInt8])] {
        let head: [UInt8] = [0] + Array("image/png".utf8) + [0, 3, 0] + [1, 2, 3, 4, 5, 6, 7, 8]
        let id3 = picture(version: 4, flags: 0x41, content: [0, 0, 0, 0, 0] + head)
        let text = picture(version: 3, flags: 0x20, content: [0] + head)
        var block = ByteBuilder()
        block.big(3, 4)
        block.big(9, 4)
        block.text("image/png")
        for _ in 0..<5 { block.big(0, 4) }
        block.big(8, 4)
        block.bytes += [1, 2, 3, 4, 5, 6, 7, 8]
        var options = FLACOptions()
        options.blocks = [
            (6, block.bytes), AudioMaterial.vorbisComments([Array("TITLE=x".utf8), Array("CUESHEET=y".utf8)]),
        ]
        let flac = AudioMaterial.noise(frames: 50).flac(options)
        var ape = ByteBuilder()
        for (key, value) in [("Title", "x"), ("Cover Art (Front)", "a.png")] {
            ape.little(value.utf8.count, 4)
            ape.little(0, 4)
            ape.text(key)
            ape.bytes += [0] + Array(value.utf8)
        }
        let count = ape.bytes.count + 32
        ape.text("APETAGEX")
        for number in [2000, count, 2, 0, 0, 0] { ape.little(number, 4) }
        let lyrics = Array("LYRICSBEGININD00001x000020LYRICS200".utf8)
        let wave = AudioMaterial.noise(frames: 50).wave()
        let inChunk = Array("id3 ".utf8) + [0, 1, 0, 0] + id3.prefix(256)
        var seeds = [
            ("a.mp3", id3), ("b.mp3", text), ("a.flac", flac), ("c.mp3", id3.suffix(1251) + ape.bytes + lyrics),
            ("a.wav", wave + inChunk),
        ]
        let path = folder.write(wave, "x.wav")
        if AudioMaterial.run("oggenc", ["-Q", "-t", "x", "-o", folder.path("a.ogg"), path]) == 0 {
            seeds.append(("a.ogg", folder.read("a.ogg")))
        }
        return seeds
    }

    @Test("bytes of headers and tags at their edges: no trap, and no picture outside the file") func edges() throws {
        for (name, bytes) in try seeds() {
            let places = Array(0..<min(200, bytes.count)) + Array(max(200, bytes.count - 120)..<bytes.count)
            // Each third byte by day.
            for place in places where Self.isNightly || place % 3 == 0 {
                for value in Self.edges {
                    var changed = bytes
                    changed[place] = value
                    let path = folder.write(changed, name)
                    let size = Int64(changed.count)
                    let pictures = (try? EmbeddedPicture.all(in: MediaFile(path: path))) ?? []
                    let stretches = pictures.flatMap(\.stretches)
                    #expect(stretches.allSatisfy { $0.length > 0 && $0.offset + $0.length <= size }, "\(name) \(place)")
                    for picture in pictures { _ = try? picture.bytes(in: MediaFile(path: path), limit: 1 << 20) }
                    _ = try? EmbeddedCueSheet.sheet(of: MediaFile(path: path))
                    _ = try? DecoderRegistry.openDecoder(path: path).metadata
                }
            }
        }
    }

    @Test("a sparse file of 8 EiB is refused, whatever it begins with") func largestFile() throws {
        for start in ["RIFF\u{7F}\u{7F}\u{7F}\u{7F}WAVE", "OggS", "fLaC", "ID3\u{4}\0\0\u{7F}\u{7F}\u{7F}\u{7F}"] {
            let path = "/dev/shm/nowplaying-\(getpid())-sparse"
            defer { unlink(path) }
            let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            defer { close(descriptor) }
            try #require(write(descriptor, Array(start.utf8), start.utf8.count) == start.utf8.count)
            // Only a file system in memory has such files.
            guard ftruncate(descriptor, .max) == 0 else { return }
            let error = #expect(throws: DecodingError.self) { try MediaFile(path: path) }
            #expect(error?.message.contains("256 TiB") == true)
        }
    }
}

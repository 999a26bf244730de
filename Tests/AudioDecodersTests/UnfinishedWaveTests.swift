import AudioCore
import AudioDecoders
import Foundation
import Glibc
import NowPlaying
import TestSupport
import Testing
import TrackReading

/// WAV files whose recorders died, and files in old character sets, as the player and the library read them.
@Suite struct UnfinishedWaveTests {
    let folder = TemporaryFolder()

    private func facts(_ path: String) throws -> TrackFacts {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        return try TrackReader().read(descriptor)
    }

    @Test("the sound of a file without a length plays to its end", arguments: [4, 8000, 100_001])
    func lengths(frames: Int) throws {
        let sound = AudioMaterial.noise(frames: frames, sampleRate: 8000, channels: 1)
        var bytes = Array(sound.wave())
        let data = try #require(Data(bytes).range(of: Data("data".utf8))?.lowerBound)
        let whole = try DecoderRegistry.openDecoder(path: folder.write(bytes, "whole.wav"))
        bytes.replaceSubrange(4..<8, with: [0, 0, 0, 0])
        bytes.replaceSubrange((data + 4)..<(data + 8), with: [0, 0, 0, 0])
        let path = folder.write(bytes, "unfinished.wav")
        let decoder = try DecoderRegistry.openDecoder(path: path)
        #expect(decoder.lengthInFrames == Int64(frames) && whole.lengthInFrames == Int64(frames))
        #expect(try Self.samples(of: decoder) == Self.samples(of: whole))
        #expect(try facts(path).duration == Double(frames) / 8000)
    }

    private static func samples(of decoder: any AudioDecoder) throws -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let frames = try withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
                let count = try decoder.read(into: buffer)
                all += buffer[..<(count * decoder.format.bytesPerFrame)]
                return count
            }
            if frames == 0 { return all }
        }
    }

    @Test("a file without sound, and one with a chunk after it, stay so") func noSound() throws {
        var bytes = Array(AudioMaterial.noise(frames: 0, sampleRate: 8000, channels: 1).wave())
        bytes += Array("LIST".utf8) + [12, 0, 0, 0] + Array("INFOINAM".utf8) + [0, 0, 0, 0]
        let path = folder.write(bytes, "empty.wav")
        #expect(try DecoderRegistry.openDecoder(path: path).lengthInFrames == 0)
        #expect(try facts(path).duration ?? 0 == 0)
    }

    /// The tag of ../cases, before the frames of an MP3: ID3v2.3 in Latin-1 with the punctuation of Windows-1252.
    private static let windowsTag: [UInt8] =
        Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 0x39] + Array("TIT2".utf8) + [0, 0, 0, 0x14, 0, 0, 0]
        + Array("Don".utf8) + [0x92] + Array("t Wait ".utf8) + [0x96, 0x20, 0x93] + Array("Live".utf8) + [0x94]
        + Array("TPE1".utf8) + [0, 0, 0, 0x11, 0, 0, 0] + Array("The Caf".utf8) + [0xE9] + Array(" O".utf8) + [0x92]
        + Array("Clock".utf8)

    @Test("the player and the library read the same texts of Windows-1252, UTF-16 without a mark, and ID3v1")
    func texts() throws {
        let wave = folder.write(AudioMaterial.waves(frames: 44_100).wave(), "x.wav")
        let mp3 = folder.path("x.mp3")
        #expect(AudioMaterial.run("lame", ["--quiet", "-b", "128", wave, mp3]) == 0)
        let sound = Array(try Data(contentsOf: URL(fileURLWithPath: mp3)))
        func frame(_ name: String, _ content: [UInt8]) -> [UInt8] {
            Array(name.utf8) + [0, 0, 0, UInt8(content.count), 0, 0] + content
        }
        let big = Array("Ночь и Zoë".utf16).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let little = Array("Ночь и Zoë".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let frames = frame("TIT2", [1] + big) + frame("TPE1", [1] + little)
        let utf16 = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, UInt8(frames.count)] + frames
        func field(_ text: [UInt8], _ count: Int) -> [UInt8] { text + [UInt8](repeating: 0, count: count - text.count) }
        let old =
            Array("TAG".utf8) + field(Array("Don".utf8) + [0x92, 0x74], 30) + field([0x93, 0x41, 0x94], 30)
            + field(Array("Bjo".utf8), 30) + field(Array("'85".utf8), 4) + field([], 30) + [255]
        for (bytes, title, artist, date) in [
            (Self.windowsTag + sound, "Don’t Wait – “Live”", "The Café O’Clock", nil),
            (utf16 + sound, "Ночь и Zoë", "Ночь и Zoë", nil), (sound + old, "Don’t", "“A”", "1985"),
        ] as [([UInt8], String, String, String?)] {
            let path = folder.write(bytes, "tagged.mp3")
            let played = try DecoderRegistry.openDecoder(path: path).metadata
            #expect(played.title == title && played.artist == artist && played.releaseDate == date)
            let listed = try facts(path).tags
            #expect(listed[.title] == [title] && listed[.artist] == [artist])
            #expect(listed[.date] == (date.map { [$0] } ?? []))
        }
    }
}

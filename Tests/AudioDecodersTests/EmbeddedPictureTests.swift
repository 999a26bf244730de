import AudioCore
import AudioDecoders
import TestSupport
import Testing

/// Pictures are found where they are.
@Suite struct EmbeddedPictureTests {
    let folder = TemporaryFolder()
    let picture = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 31) & 0x7F }

    private func find(_ bytes: [UInt8]) throws -> (pictures: [EmbeddedPicture], content: [[UInt8]]) {
        let pictures = try EmbeddedPicture.all(in: MediaFile(path: folder.write(bytes, "a")))
        let content = pictures.map { picture in
            picture.stretches.flatMap { bytes[Int($0.offset)..<Int($0.offset + $0.length)] }
        }
        return (pictures, content)
    }

    @Test func flac() throws {
        var block = ByteBuilder()
        block.big(3, 4)
        block.big(10, 4)
        block.text("image/jpeg")
        block.big(2, 4)
        block.text("Zo")
        for _ in 0..<4 { block.big(0, 4) }
        block.big(picture.count, 4)
        var options = FLACOptions()
        options.blocks = [(6, block.bytes + picture)]
        let found = try find(AudioMaterial.noise(frames: 100).flac(options))
        #expect(found.content == [picture])
        #expect(found.pictures.first?.mediaType == "image/jpeg")
        #expect(found.pictures.first?.kindNumber == 3)
    }

    @Test(arguments: [2, 3, 4] as [UInt8]) func id3(version: UInt8) throws {
        let head: [UInt8] =
            version == 2
            ? [0] + Array("JPG".utf8) + [3] + Array("a".utf8) + [0]
            : [1] + Array("image/jpeg".utf8) + [0, 3, 0xFF, 0xFE, 65, 0, 0, 0]
        let content = head + picture
        var frame = ByteBuilder()
        frame.text(version == 2 ? "PIC" : "APIC")
        if version == 4 {
            frame.bytes += (0..<4).map { UInt8(content.count >> (21 - 7 * $0) & 0x7F) }
        } else {
            frame.big(content.count, version == 2 ? 3 : 4)
        }
        if version > 2 { frame.bytes += [0, 0] }
        frame.bytes += content
        let size = (0..<4).map { UInt8(frame.bytes.count >> (21 - 7 * $0) & 0x7F) }
        let found = try find(Array("ID3".utf8) + [version, 0, 0] + size + frame.bytes + [0xFF, 0xFB])
        #expect(found.content == [picture])
        #expect(found.pictures.first?.kindNumber == 3)
        #expect(found.pictures.first?.mediaType == "image/jpeg")
    }

    @Test func ogg() throws {
        let wave = folder.write(AudioMaterial.waves(frames: 5000, sampleRate: 48_000).wave(), "a.wav")
        try #require(AudioMaterial.run("oggenc", ["-Q", "-o", folder.path("a.ogg"), wave]) == 0)
        // Longer than a page.
        let text = [UInt8](repeating: 0x41, count: 100_000)
        let comments = [Array("TITLE=x".utf8), Array("metadata_block_picture=".utf8) + text]
        let found = try find(#require(AudioMaterial.oggWithComments(folder.read("a.ogg"), comments)))
        #expect(found.content == [text])
        #expect(found.pictures.first?.coding == .base64Block)
    }
}

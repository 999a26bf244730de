import ArtworkLookup
import AudioCore
import AudioDecoders
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// Pictures that the child finds.
@Suite(.enabled(if: DecodeProgram.path != nil, "nowplaying-decode is not built: its packages are missing"))
struct ChildPictureTests {
    private let folder = TemporaryFolder()

    private func search(_ name: String) -> ArtworkSearch.Result {
        let path = FilePath(Array(folder.path(name).utf8))!
        return ArtworkSearch().search(.file(path), ArtworkSearch.Rules(), root: { _ in nil }, ArtworkTask())
    }

    private func ffmpeg(_ words: String...) -> Bool {
        AudioMaterial.run("ffmpeg", ["-v", "error", "-y"] + words) == 0
    }

    @Test("MP4, Matroska and an APEv2 tag: the same picture has the same id, and comes out as it went in")
    func containers() throws {
        let picture = try #require(Pictures.make(folder, "p.jpg", 40, 40))
        _ = folder.write(AudioMaterial.noise(frames: 8000, seed: 1).wave(), "a.wav")
        let (wave, image) = (folder.path("a.wav"), folder.path("p.jpg"))
        #expect(
            ffmpeg(
                "-i", wave, "-i", image, "-map", "0", "-map", "1", "-c:v", "copy", "-disposition:v", "attached_pic",
                folder.path("1.m4a")))
        #expect(
            ffmpeg(
                "-i", wave, "-attach", image, "-metadata:s:t", "mimetype=image/jpeg", "-metadata:s:t",
                "filename=cover.jpg", folder.path("2.mka")))
        #expect(ffmpeg("-i", wave, "-c:a", "wavpack", folder.path("plain.wv")))
        _ = folder.write(folder.read("plain.wv") + Self.tag(with: picture), "3.wv")
        let id = try #require(Artwork(ofPicture: picture)).id
        for name in ["1.m4a", "2.mka", "3.wv"] {
            let result = search(name)
            #expect(result.found.map(\.artwork.id) == [id], "\(name): \(result.failures)")
            #expect(try result.found.first?.origin.bytes(ArtworkTask()) == picture, "\(name)")
        }
        unlink(image)
        #expect(search("plain.wv").found.isEmpty)
    }

    /// APEv2, without a header: items, then the footer.
    private static func tag(with picture: [UInt8]) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(value).littleEndian) { Array($0) } }
        let value = Array("cover.jpg".utf8) + [0] + picture
        let item = number(value.count) + number(2) + Array("Cover Art (Front)".utf8) + [0] + value
        return item + Array("APETAGEX".utf8) + number(2000) + number(item.count + 32) + number(1) + number(0)
            + [UInt8](repeating: 0, count: 8)
    }

    @Test("front covers go before others; a broken picture is none, with words; a cut file is no crash")
    func broken() throws {
        let picture = try #require(Pictures.make(folder, "p.jpg", 40, 40))
        _ = folder.write(AudioMaterial.noise(frames: 8000, seed: 1).wave(), "a.wav")
        let (wave, image) = (folder.path("a.wav"), folder.path("p.jpg"))
        #expect(
            ffmpeg(
                "-i", wave, "-i", image, "-map", "0", "-map", "1", "-c:v", "copy", "-disposition:v", "attached_pic",
                folder.path("1.m4a")))
        unlink(image)
        let whole = folder.read("1.m4a")
        let start = try #require(
            whole.indices.first { $0 + 64 < whole.count && whole[$0..<$0 + 64].elementsEqual(picture[..<64]) })
        var spoiled = whole
        for place in start..<start + 200 { spoiled[place] = 0x55 }
        _ = folder.write(spoiled, "2.m4a")
        let result = search("2.m4a")
        #expect(result.found.isEmpty)
        #expect(
            result.failures.first?.contains("it is damaged or not a supported picture") == true, "\(result.failures)")
        for cut in [start + 1, start + picture.count / 2, start + picture.count - 1] {
            _ = folder.write(Array(whole[..<cut]), "3.m4a")
            for found in search("3.m4a").found { #expect(found.artwork.width == 40) }
        }
    }

    @Test("given up before it began, it does not begin") func givenUp() throws {
        let task = ArtworkTask()
        task.giveUp()
        let address = PictureFetch.Address("http://127.0.0.1:1/", mayUseLoopback: true, wasPublic: false)
        let origin = ArtworkOrigin.remote(address, shown: "x", certificates: nil)
        #expect(throws: ArtworkError(message: "the request was cancelled")) { try origin.bytes(task) }
    }
}

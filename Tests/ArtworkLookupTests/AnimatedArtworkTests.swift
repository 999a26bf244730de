import ArtworkLookup
import AudioCore
import AudioDecoders
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// Short films beside the audio.
@Suite struct AnimatedArtworkTests {
    private let folder = TemporaryFolder()

    private func film(_ name: String, _ size: String, seconds: Int = 1, rate: Int = 10) -> Bool {
        let coder = name.hasSuffix("gif") ? ["-pix_fmt", "rgb8"] : ["-pix_fmt", "yuv420p"]
        let words = ["-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=size=\(size):rate=\(rate)", "-t", "\(seconds)"]
        return AudioMaterial.run("ffmpeg", words + coder + [folder.path(name)]) == 0
    }

    private func search(
        _ rules: ArtworkSearch.Rules = ArtworkSearch.Rules(), films: [AnimatedShape: ConfinedPath] = [:],
        root: FilePath? = nil
    ) -> ArtworkSearch.Result {
        let source = MediaSource.file(FilePath(Array(folder.path("a.wav").utf8))!)
        _ = folder.write(AudioMaterial.noise(frames: 100, seed: 1).wave(), "a.wav")
        return ArtworkSearch().search(source, rules, films: films, root: { _ in root }, ArtworkTask())
    }

    @Test("of each shape one, by its header; mp4 before webm before gif; off is off")
    func shapes() throws {
        #expect(film("Cover-Square.GIF", "40x40"))
        #expect(search().animated.map(\.artwork.mediaType) == ["image/gif"])
        #expect(film("cover-square.webm", "48x48"))
        #expect(search().animated.map(\.artwork.width) == [48])
        #expect(film("cover-square.mp4", "64x64") && film("cover-tall.mp4", "300x400"))
        let found = search().animated.map(\.artwork)
        #expect(found.map(\.aspect) == ["1:1", "3:4"])
        #expect(found.map(\.mediaType) == ["video/mp4", "video/mp4"])
        #expect(found.allSatisfy { $0.kind == .animated && $0.id.utf8.count == 32 })
        #expect(search().found.isEmpty)
        var rules = ArtworkSearch.Rules()
        rules.films = ArtworkSearch.FilmNames(square: "loop", tall: nil)
        #expect(search(rules).animated.isEmpty)
        rules = ArtworkSearch.Rules()
        rules.isAnimated = false
        #expect(search(rules).animated.isEmpty)
    }

    @Test("the wrong shape is left out, with words; what is too long or too fast is kept and advised against")
    func advice() throws {
        #expect(film("cover-square.mp4", "64x48") && film("cover-tall.mp4", "30x40", seconds: 31, rate: 2))
        let result = search()
        #expect(result.animated.map(\.artwork.aspect) == ["3:4"])
        #expect(result.failures.count == 1 && result.failures[0].contains("64 × 48, which is not 1:1"))
        #expect(result.animated[0].advice.count == 1 && result.animated[0].advice[0].contains("31 s"))
        #expect(film("cover-square.mp4", "64x64", rate: 100) && film("cover-tall.webm", "30x40"))
        unlink(folder.path("cover-tall.mp4"))
        let second = search()
        #expect(second.animated[0].advice.first?.contains("100 frames a second") == true)
        #expect(second.animated[1].advice.isEmpty)
        #expect(film("cover-square.gif", "40x40", seconds: 40, rate: 1))
        unlink(folder.path("cover-square.mp4"))
        #expect(search().animated[0].advice.first?.contains("40 s") == true)
    }

    @Test("the same film has the same id in every folder; a link that leads out is not followed")
    func identity() throws {
        #expect(film("cover-square.mp4", "64x64"))
        let id = search().animated[0].artwork.id
        let elsewhere = TemporaryFolder()
        _ = elsewhere.write(folder.read("cover-square.mp4"), "private.mp4")
        unlink(folder.path("cover-square.mp4"))
        symlink(elsewhere.path("private.mp4"), folder.path("cover-square.mp4"))
        let result = search()
        #expect(result.animated.isEmpty)
        #expect(result.failures.first?.contains("it is a link that leads elsewhere") == true)
        let named = ConfinedPath(root: FilePath(Array(elsewhere.path.utf8))!, relative: "private.mp4")
        #expect(search(films: [.square: named]).animated.map(\.artwork.id) == [id])
    }

    @Test("cut and spoiled headers are no film or one of a possible size, and never a crash")
    func broken() throws {
        #expect(film("a.mp4", "30x30") && film("a.webm", "30x30") && film("a.gif", "30x30"))
        for name in ["a.mp4", "a.webm", "a.gif"] {
            let bytes = folder.read(name)
            var random = SeededRandom(seed: 3)
            for round in 0..<(getenv("NOWPLAYING_NIGHTLY") != nil ? 4000 : 120) {
                var other = bytes
                if round % 4 == 0 {
                    other = Array(bytes[..<Int.random(in: 0...min(2000, bytes.count), using: &random)])
                } else {
                    for _ in 0..<4 {
                        let place = Int.random(in: 0..<other.count, using: &random)
                        other[place] = .random(in: 0...255, using: &random)
                    }
                }
                _ = folder.write(other, "cover-square.\(name.split(separator: ".")[1])")
                for film in search().animated { #expect(film.artwork.width > 0 && film.artwork.aspect == "1:1") }
            }
            unlink(folder.path("cover-square.\(name.split(separator: ".")[1])"))
        }
    }

    @Test(
        "the first frame is made by the child",
        .enabled(if: DecodeProgram.path != nil, "nowplaying-decode is not built: its packages are missing"))
    func firstFrame() throws {
        #expect(film("cover-square.mp4", "64x64") && film("cover-tall.webm", "30x40"))
        for found in search().animated {
            let picture = try #require(Artwork(ofPicture: try ArtworkOrigin.firstFrame(found).bytes(ArtworkTask())))
            #expect(picture.width == found.artwork.width && picture.height == found.artwork.height)
            #expect(picture.mediaType == "image/jpeg")
        }
        #expect(film("cover-square.gif", "64x64"))
        unlink(folder.path("cover-square.mp4"))
        let loop = try #require(search().animated.first)
        #expect(Artwork(ofPicture: try ArtworkOrigin.firstFrame(loop).bytes(ArtworkTask()))?.mediaType == "image/png")
    }
}

import ArtworkLookup
import AudioCore
import AudioDecoders
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@Suite struct ArtworkSearchTests {
    private let folder = TemporaryFolder()

    private func audio(_ name: String) -> MediaSource {
        let tone = AudioMaterial.noise(frames: 4410, seed: 1)
        return .file(FilePath(Array(folder.write(tone.flac(), name).utf8))!)
    }

    private func search(
        _ source: MediaSource, _ rules: ArtworkSearch.Rules = ArtworkSearch.Rules(), root: String? = nil
    ) -> ArtworkSearch.Result {
        let root = root.flatMap { FilePath(Array($0.utf8)) }
        return ArtworkSearch().search(source, rules, root: { _ in root }, ArtworkTask())
    }

    @Test("names in their order, in any case; endings in theirs; what is broken is passed over with words")
    func beside() throws {
        let source = audio("1.flac")
        #expect(search(source).found.isEmpty && search(source).failures.isEmpty)
        let table: [(String, Int)] = [
            ("artwork.gif", 10), ("album.png", 11), ("Front.PNG", 12), ("front.jpg", 13), ("FOLDER.webp", 14),
            ("cover.png", 15), ("Cover.jpeg", 16), ("cover.jpg", 17),
        ]
        for (name, size) in table {
            _ = try #require(Pictures.make(folder, name, size, size))
            #expect(search(source).found.map(\.artwork.width) == [size], "\(name)")
        }
        #expect(search(source, ArtworkSearch.Rules(names: ["artwork"])).found.map(\.artwork.width) == [10])
        _ = folder.write(Array("no picture".utf8), "cover.jpg")
        let broken = search(source)
        #expect(broken.found.isEmpty)
        #expect(broken.failures.first?.contains("it is damaged or not a supported picture") == true)
    }

    @Test("a folder whose time is as far off as can be shows its pictures")
    func farTime() throws {
        let folder = TemporaryFolder(isInMemory: true)
        let source = MediaSource.file(FilePath(folder.file("1.mp3").utf8)!)
        _ = try #require(Pictures.make(folder, "cover.png", 10, 10))
        for seconds in [Int.min, .max] {
            let times = [timespec(tv_sec: seconds, tv_nsec: 1), timespec(tv_sec: seconds, tv_nsec: 1)]
            #expect(utimensat(AT_FDCWD, folder.path, times, 0) == 0)
            #expect(search(source).found.map(\.artwork.width) == [10])
        }
    }

    @Test("inside goes before beside, the front cover before the rest, and has the same id in every file")
    func embedded() throws {
        _ = Pictures.make(folder, "cover.jpg", 10, 10)
        _ = Pictures.make(folder, "in.png", 20, 20)
        _ = Pictures.make(folder, "back.png", 30, 30)
        _ = audio("1.flac")
        let first = folder.path("1.flac")
        #expect(AudioMaterial.run("metaflac", ["--import-picture-from=4||||\(folder.path("back.png"))", first]) == 0)
        #expect(AudioMaterial.run("metaflac", ["--import-picture-from=3||||\(folder.path("in.png"))", first]) == 0)
        let words = [
            "--quiet", "--discard-pictures", "--picture", "3||||\(folder.path("in.png"))", first, folder.path("2.opus"),
        ]
        #expect(AudioMaterial.run("opusenc", words) == 0)
        #expect(AudioMaterial.run("flac", ["-sd", first, "-o", folder.path("3.wav")]) == 0)
        let mp3 = ["--quiet", "--ti", folder.path("in.png"), folder.path("3.wav"), folder.path("3.mp3")]
        #expect(AudioMaterial.run("lame", mp3) == 0)
        let id = try #require(Artwork(ofPicture: folder.read("in.png"))).id
        for name in ["1.flac", "2.opus", "3.mp3"] {
            let result = search(.file(FilePath(Array(folder.path(name).utf8))!))
            #expect(result.found.map(\.artwork.id) == [id], "\(name): \(result.failures)")
            #expect(try result.found.first?.origin.bytes(ArtworkTask()) == folder.read("in.png"))
        }
    }

    @Test("an ID3 tag that is a chunk of WAV or AIFF") func chunks() throws {
        let picture = try #require(Pictures.make(folder, "p.png", 20, 20))
        let material = AudioMaterial.noise(frames: 101, seed: 1)
        let content = [0] + Array("image/png".utf8) + [0, 3, 0] + picture
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * (3 - $0))) } }
        let frame = Array("APIC".utf8) + number(content.count) + [0, 0] + content
        let size = (0..<4).map { UInt8(frame.count >> (7 * (3 - $0)) & 127) }
        let tag = Array("ID3".utf8) + [3, 0, 0] + size + frame
        let little = Array(number(tag.count).reversed())
        for (name, bytes) in [
            ("a.wav", material.wave() + Array("id3 ".utf8) + little + tag),
            ("a.aiff", material.aiff() + Array("ID3 ".utf8) + number(tag.count) + tag),
        ] {
            let path = folder.write(bytes, name)
            let result = search(.file(FilePath(Array(path.utf8))!))
            #expect(result.found.map(\.artwork.width) == [20], "\(name)")
            #expect(try result.found.first?.origin.bytes(ArtworkTask()) == picture, "\(name)")
        }
        let cut = folder.write(material.wave() + Array("id3 ".utf8) + little + Array(tag.prefix(30)), "b.wav")
        #expect(search(.file(FilePath(Array(cut.utf8))!)).found.isEmpty)
    }

    @Test("a link that leads out of the folder is never followed; within the root of the media it is")
    func links() throws {
        let source = audio("1.flac")
        let elsewhere = TemporaryFolder()
        _ = Pictures.make(elsewhere, "private.jpg", 8, 8)
        symlink(elsewhere.path("private.jpg"), folder.path("cover.jpg"))
        let result = search(source)
        #expect(result.found.isEmpty)
        #expect(result.failures.first?.contains("it is a link that leads elsewhere") == true)
        mkdir(folder.path("album"), 0o755)
        let inside = audio("album/1.flac")
        _ = Pictures.make(folder, "shared.jpg", 9, 9)
        symlink("../shared.jpg", folder.path("album/cover.jpg"))
        #expect(search(inside).found.isEmpty)
        #expect(search(inside, root: folder.path).found.map(\.artwork.width) == [9])
    }

    @Test("too large, a FIFO, a folder, a placeholder, an open file") func others() throws {
        let source = audio("1.flac")
        mkfifo(folder.path("cover.jpg"), 0o644)
        #expect(search(source).found.isEmpty)
        unlink(folder.path("cover.jpg"))
        mkdir(folder.path("cover.jpg"), 0o755)
        #expect(search(source).found.isEmpty)
        rmdir(folder.path("cover.jpg"))
        _ = folder.write([0xFF, 0xD8, 0xFF], "cover.jpg")
        truncate(folder.path("cover.jpg"), 100 << 20)
        #expect(search(source).failures.first?.contains("it has more than 32 MiB") == true)
        unlink(folder.path("cover.jpg"))
        _ = Pictures.make(folder, "none.png", 5, 6)
        let rules = ArtworkSearch.Rules(placeholder: folder.path("none.png"))
        #expect(search(source, rules).found.map(\.artwork.height) == [6])
        #expect(search(.handedOver(name: "x"), rules).found.map(\.artwork.height) == [6])
    }

    @Test("the cache holds what it may, lets go what was not used, and never what is shown") func cache() throws {
        let cache = ArtworkCache(folder: folder.path("a/b"), limit: 2500)
        func picture(_ number: Int) -> Artwork {
            let digits = String(number)
            let id = String(repeating: "0", count: 32 - digits.count) + digits
            return Artwork(id: id, width: 1, height: 1, mediaType: "image/png")
        }
        let bytes = [UInt8](repeating: 1, count: 1000)
        for number in 1...2 { _ = try cache.store(bytes, as: picture(number)) }
        #expect(cache.path(of: picture(1)) != nil && cache.path(of: picture(2)) != nil)
        // The first was used longer ago, but is shown.
        var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        let oldest = try #require(cache.path(of: picture(1)))
        utimensat(AT_FDCWD, oldest, &times, 0)
        cache.keep([picture(1).id], for: 1)
        cache.keep([picture(7).id], for: 2)
        let path = try cache.store(bytes, as: picture(3))
        #expect(path == folder.path("a/b/\(picture(3).id).png"))
        #expect(cache.path(of: picture(2)) == nil && cache.path(of: picture(1)) != nil)
        var status = stat()
        #expect(stat(folder.path("a/b"), &status) == 0 && status.st_mode & 0o777 == 0o750)
        #expect(folder.read("a/b/\(picture(3).id).png") == bytes)
        // Not shown any more.
        cache.keep([], for: 1)
        utimensat(AT_FDCWD, folder.path("a/b/\(picture(1).id).png"), &times, 0)
        _ = try cache.store(bytes, as: picture(4))
        #expect(cache.path(of: picture(1)) == nil)
        // A broken transfer leaves nothing.
        #expect(throws: ArtworkError(message: "enough")) {
            try cache.store(as: picture(5)) {
                (write: ([UInt8]) throws(ArtworkError) -> Void) throws(ArtworkError) in
                try write([1, 2, 3])
                throw ArtworkError(message: "enough")
            }
        }
        #expect(cache.path(of: picture(5)) == nil)
        #expect(!Tree.names(folder.path("a/b")).contains { $0.hasPrefix(picture(5).id) })
        let full = ArtworkCache(folder: "/proc/nowhere", limit: 10)
        #expect(throws: ArtworkError.self) { try full.store(bytes, as: picture(1)) }
    }

    @Test("a folder that cannot be written gives its pictures to one in memory") func spareFolder() throws {
        func picture(_ number: Int) -> Artwork {
            Artwork(
                id: String(repeating: "\(number)", count: 32), width: 1, height: 1, mediaType: "image/png")
        }
        let bytes = [UInt8](repeating: 7, count: 1000)
        let spare = folder.path("run/artwork")
        for parent in ["/proc/nowhere", "/dev/full/x"] {
            let cache = ArtworkCache(folder: parent, limit: 1 << 20, spare: spare)
            let path = try cache.store(bytes, as: picture(1))
            #expect(path == "\(spare)/\(picture(1).id).png" && cache.path(of: picture(1)) == path)
            unlink(path)
            #expect(cache.path(of: picture(1)) == nil)
            // A failure of the source is no failure of the folder: it is not asked again.
            var calls = 0
            #expect(throws: ArtworkError(message: "enough")) {
                try ArtworkCache(folder: folder.path("good"), limit: 1 << 20, spare: spare).store(as: picture(2)) {
                    (write: ([UInt8]) throws(ArtworkError) -> Void) throws(ArtworkError) in
                    calls += 1
                    try write([1])
                    throw ArtworkError(message: "enough")
                }
            }
            #expect(calls == 1)
        }
        #expect(Tree.names(spare).filter { $0.hasPrefix("2") }.isEmpty)
    }
}

/// Names in a folder.
enum Tree {
    static func names(_ folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var result: [String] = []
        while let entry = readdir(stream) {
            result.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return result
    }
}

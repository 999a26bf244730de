import ArtworkLookup
import NowPlaying
import TestSupport
import Testing

@Suite struct ImageHeaderTests {
    @Test(
        "kind and size as ffmpeg wrote them",
        arguments: ["jpg", "png", "gif", "webp", "avif"], [(64, 64), (300, 400), (17, 3)])
    func written(ending: String, size: (Int, Int)) throws {
        let folder = TemporaryFolder()
        guard let bytes = Pictures.make(folder, "a.\(ending)", size.0, size.1) else {
            // A build of ffmpeg without this coder: nothing to compare with.
            return
        }
        let header = try #require(ImageHeader(bytes))
        #expect(header.kind.rawValue == (ending == "jpg" ? "jpeg" : ending))
        #expect((header.width, header.height) == size)
    }

    @Test("what is cut, empty or something else is no picture, and never a crash")
    func broken() throws {
        let folder = TemporaryFolder()
        for ending in ["jpg", "png", "gif", "webp", "avif"] {
            guard let bytes = Pictures.make(folder, "a.\(ending)", 40, 30) else { continue }
            for count in 0..<min(bytes.count, 600) { _ = ImageHeader(Array(bytes[..<count])) }
            #expect(ImageHeader(Array(bytes[..<9])) == nil)
            var random = SeededRandom(seed: 7)
            for _ in 0..<20_000 {
                var other = bytes
                for _ in 0..<3 {
                    let place = Int.random(in: 0..<min(400, other.count), using: &random)
                    other[place] = .random(in: 0...255, using: &random)
                }
                if let header = ImageHeader(other) {
                    #expect((1...65_535).contains(header.width) && (1...65_535).contains(header.height))
                }
            }
        }
        #expect(ImageHeader([]) == nil)
        #expect(ImageHeader(Array("a text that is called cover.jpg".utf8)) == nil)
    }

    @Test("the id is the first half of the SHA-256 of the bytes") func digest() throws {
        // A picture of one pixel, and its hash by sha256sum.
        let pixel: [UInt8] = [
            0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0x80, 0, 0, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1,
            0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B,
        ]
        let artwork = try #require(Artwork(ofPicture: pixel))
        #expect(artwork == Artwork(id: "6adc3d4c1056996e4e8b765a62604c78", width: 1, height: 1, mediaType: "image/gif"))
    }

    @Test("the closest size") func closest() {
        let sizes = [(100, 100), (600, 600), (1400, 1400)].map {
            Artwork(id: "\($0.0)", width: $0.0, height: $0.1, mediaType: "image/png")
        }
        let table: [(Int?, Int?, ArtworkFit, String)] = [
            (nil, nil, .cover, "1400"), (500, 500, .cover, "600"), (600, 600, .cover, "600"),
            (601, 10, .cover, "1400"), (5000, 5000, .cover, "1400"), (500, 500, .inside, "100"),
            (600, 700, .inside, "600"), (50, 50, .inside, "100"), (5000, nil, .inside, "1400"),
            (nil, 99, .inside, "100"),
        ]
        for (width, height, fit, id) in table {
            #expect(sizes.closest(width: width, height: height, fit: fit)?.id == id)
        }
        #expect([Artwork]().closest(width: 1, height: 1, fit: .cover) == nil)
        #expect(Artwork(id: "", width: 900, height: 1200, mediaType: "").aspect == "3:4")
        #expect(Artwork(id: "", width: 500, height: 496, mediaType: "").aspect == "1:1")
        #expect(Artwork(id: "", width: 500, height: 100, mediaType: "").aspect == "5:1")
    }
}

import AudioCore
import AudioDecoders
import LinuxSystem
import TestSupport
import Testing

@Suite struct SegmentDecoderTests {
    let folder = TemporaryFolder()
    let material = AudioMaterial.noise(frames: 100_000)
    let whole: [UInt8]

    init() { whole = expectedBytes(material, .int16) }

    private func open(_ kind: String) throws -> any AudioDecoder {
        try DecoderRegistry.openDecoder(path: folder.write(kind == "flac" ? material.flac() : material.wave(), "a"))
    }

    private func segment(_ start: Int, _ end: Int?, unit: Int = 75, path: FilePath = "/a") -> MediaSegment {
        MediaSegment(
            audio: .file(path), sheet: .file("/a.cue"), number: 1,
            start: MediaTime(Int64(start), perSecond: Int64(unit)),
            end: end.map { MediaTime(Int64($0), perSecond: Int64(unit)) })
    }

    @Test(arguments: ["flac", "wave"]) func eachPartIsADecoder(kind: String) throws {
        for (start, end) in [(0, 10), (10, 90), (90, nil), (3, 4)] as [(Int, Int?)] {
            let part = try SegmentDecoder(try open(kind), segment(start, end))
            let bytes = whole[start * 588 * 4..<(end.map { $0 * 588 * 4 } ?? whole.count)]
            #expect(part.lengthInFrames == Int64(bytes.count / 4))
            try checkConformance(part, expected: Array(bytes))
        }
    }

    /// Consecutive parts make the whole, bit for bit, with the same decoder and with a new one, and for every place at which
    /// the reading of a part stopped.
    @Test(arguments: ["flac", "wave"], 0..<8) func partsMakeTheWhole(kind: String, seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let unit = [75, 44_100][Int(seed % 2)]
        let last = 100_000 * unit / 44_100
        var marks = Set((0..<6).map { _ in Int(random.next() % UInt64(last)) }).union([0]).sorted()
        marks.append(-1)
        var part: (any AudioDecoder)?
        var joined: [UInt8] = []
        for (start, end) in zip(marks, marks.dropFirst()) {
            let segment = segment(start, end < 0 ? nil : end, unit: unit)
            let next: any AudioDecoder
            if let part, random.next() % 3 > 0 {
                next = try #require(try part.continued(as: .segment(segment)))
            } else {
                next = try SegmentDecoder(try open(kind), segment)
            }
            if random.next() % 2 == 0 {
                // Somewhere in it, and back.
                try next.seek(toFrame: Int64(random.next() % 1000))
                _ = try readFrames(next, frames: Int(random.next() % 500))
                try next.seek(toFrame: 0)
            }
            joined += try readFrames(next, piece: 1 + Int(random.next() % 7000))
            part = next
        }
        expectSame(joined, whole)
    }

    @Test func partsOutsideOfTheFile() throws {
        #expect(throws: DecodingError.self) {
            try SegmentDecoder(try open("flac"), segment(1000, nil))
        }
        // One that ends behind the file ends with it.
        let part = try SegmentDecoder(try open("flac"), segment(75, 75_000))
        #expect(part.lengthInFrames == 55_900)
        expectSame(try readFrames(part), whole[44_100 * 4..<whole.count])
    }

    @Test func otherFilesAreNotGoneOnWith() throws {
        let part = try SegmentDecoder(try open("flac"), segment(0, 10))
        #expect(try part.continued(as: .segment(segment(10, 20, path: "/b"))) == nil)
        #expect(try part.continued(as: .file("/a")) == nil)
        // A part that another user may open by its folder alone is opened and judged by itself.
        let confined = MediaSegment(
            audio: .confined(ConfinedPath(root: "/", relative: "a")), sheet: .file("/a.cue"), number: 1,
            start: MediaTime(0, perSecond: 75), end: nil)
        #expect(try part.continued(as: .segment(confined)) == nil)
        #expect(try open("flac").continued(as: .segment(segment(0, 10))) == nil)
    }
}

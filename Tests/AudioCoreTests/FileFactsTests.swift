import AudioCore
import ChildDecoding
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// Facts as bytes: they come back as they were, within their limits, and everything else is refused.
@Suite struct FileFactsTests {
    private static let full: FileFacts = {
        var facts = FileFacts(
            duration: 61.5,
            format: MediaFormat(codec: "FLAC", sampleRate: 96_000, channels: 2, bitsPerSample: 24, bitRate: 1 << 40))
        facts.metadata.title = "Größe"
        facts.metadata.artist = "A, B"
        facts.metadata.artists = ["A", "B"]
        facts.metadata.albumTitle = "Album"
        facts.metadata.albumArtist = "Various"
        facts.metadata.subtitle = "Sub"
        facts.metadata.genre = "Jazz"
        facts.metadata.composer = "C"
        facts.metadata.releaseDate = "1999-05"
        facts.metadata.show = "Show"
        facts.metadata.isrc = "DEX"
        facts.metadata.contentRating = "PG"
        facts.metadata.language = "deu"
        facts.metadata.summary = "About"
        facts.metadata.trackNumber = 0
        facts.metadata.trackCount = 12
        facts.metadata.discNumber = 1
        facts.metadata.discCount = 1 << 53
        facts.metadata.isExplicit = false
        facts.metadata.mediaType = .podcast
        facts.metadata.loudness = LoudnessTags(trackGain: -6.5, albumPeak: 1.25)
        facts.metadata.chapters = [Chapter(start: 0), Chapter(start: 30.5, title: "Zwei")]
        return facts
    }()

    @Test("whole facts come back as they were; those of lists without long texts and chapters")
    func roundTrips() throws {
        #expect(try FileFacts(Self.full.bytes(.whole)) == Self.full)
        #expect(try FileFacts(FileFacts(isSeekable: false).bytes(.whole)) == FileFacts(isSeekable: false))
        var listed = Self.full
        listed.metadata.summary = nil
        listed.metadata.chapters = nil
        #expect(try FileFacts(Self.full.bytes(.listed), .listed) == listed)
        #expect(PackedFacts(Self.full).facts == listed)
    }

    @Test("what has no room is left out, the less important first; a text is cut at a character")
    func limits() throws {
        var facts = Self.full
        facts.metadata.title = "x" + String(repeating: "é", count: 3000)
        facts.metadata.artists = (0..<1000).map { "artist \($0) " + String(repeating: "a", count: 90) }
        facts.metadata.composer = String(repeating: "c", count: 5000)
        let packed = PackedFacts(facts)
        #expect(packed.count <= FileFacts.Extent.listed.bytes)
        #expect(packed.facts.metadata.title == "x" + String(repeating: "é", count: 255))
        #expect(packed.facts.metadata.composer?.utf8.count == 512)
        #expect((1..<64).contains(packed.facts.metadata.artists.count))
        #expect(packed.facts.duration == 61.5)
        let whole = facts.bytes(.whole)
        #expect(try FileFacts(whole).metadata.title?.utf8.count == 4095)
        #expect(try FileFacts(whole).metadata.artists.count == 64)
    }

    @Test("bytes that are cut, too many or changed are refused, or facts within the limits")
    func hostile() throws {
        let whole = Self.full.bytes(.whole)
        for count in whole.indices { #expect(throws: WireError.self) { try FileFacts(whole[..<count]) } }
        #expect(throws: WireError.self) { try FileFacts(whole + [0]) }
        #expect(throws: WireError.self) { try FileFacts([UInt8](repeating: 0, count: 2049), .listed) }
        for place in whole.indices {
            for value: UInt8 in [0, 1, 2, 31, 32, 64, 127, 128, 254, 255] where value != whole[place] {
                var bytes = whole
                bytes[place] = value
                check(bytes)
            }
        }
        var random = SeededRandom(seed: 7)
        for _ in 0..<5000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
                }
            }
            check(bytes)
        }
    }

    /// Accepted facts are within their bounds, and can be written again.
    private func check(_ bytes: [UInt8]) {
        guard let facts = try? FileFacts(bytes) else { return }
        let metadata = facts.metadata
        let texts = [metadata.title, metadata.artist, metadata.albumTitle, metadata.summary, metadata.language]
        for text in texts.compactMap(\.self) + metadata.artists {
            #expect((1...4096).contains(text.utf8.count) && text.unicodeScalars.allSatisfy { $0.value >= 32 })
        }
        #expect(facts.duration.map { $0 >= 0 && $0 <= TimeLimit.seconds } ?? true)
        for gain in [metadata.loudness?.trackGain, metadata.loudness?.albumPeak] {
            #expect(gain.map { abs($0) <= 1e4 } ?? true)
        }
        #expect(metadata.artists.count <= 64 && metadata.chapters?.count ?? 0 <= Chapter.limit)
        #expect((try? FileFacts(facts.bytes(.whole))) == facts)
    }

    @Test("a control character, a field that comes twice or an impossible number is refused")
    func lies() {
        let head: [UInt8] = [4]
        let lies: [[UInt8]] = [
            [1, 1, 0, 10, 0], [1, 0, 0, 0], [1, 1, 0, 65, 1, 1, 0, 66, 0], [14, 1, 0, 65, 0], [1, 1, 0, 0xFF, 0],
            [48, 0, 0, 0, 0, 0, 0, 0, 0x80, 0], [48, 1, 0, 0, 0, 0, 0, 0x40, 0, 0], [64, 2, 0], [65, 5, 0],
            [66, 16, 0],
            [66, 1, 0, 0, 0, 0, 0, 0, 0xF8, 0x7F, 0], [67, 0xE9, 3, 0],
        ]
        for lie in lies { #expect(throws: WireError.self, "\(lie)") { try FileFacts(head + lie) } }
        for flags: UInt8 in [8, 16, 32, 255] { #expect(throws: WireError.self) { try FileFacts([flags, 0]) } }
    }

    @Test("a part of a file has its own duration, and nothing that the file says of a single track")
    func parts() {
        func segment(_ start: Int64, _ end: Int64?) -> MediaSegment {
            MediaSegment(
                audio: .file("/a.flac"), sheet: .file("/a.cue"), number: 1, start: MediaTime(start, perSecond: 75),
                end: end.map { MediaTime($0, perSecond: 75) })
        }
        let first = Self.full.part(segment(0, 75 * 20))
        #expect(first.duration == 20 && first.metadata.title == nil && first.metadata.albumTitle == "Album")
        #expect(Self.full.part(segment(75 * 20, nil)).duration == 41.5)
        #expect(Self.full.part(segment(75 * 20, 75 * 90)).duration == 41.5)
        #expect(Self.full.part(segment(75 * 90, nil)).duration == 0)
    }
}

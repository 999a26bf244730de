import NowPlaying
import TestSupport
import Testing

@testable import TrackReading

/// Answers about tracks: they lead back to the same facts, and hostile ones stay within their bounds.
@Suite struct TrackAnswerTests {
    private static let full: TrackFacts = {
        var facts = TrackFacts()
        for name in TagName.allCases {
            facts.tags.add(name, "value of \(name)")
            facts.tags.add(name, "ö ẞ 日本 \(name)")
        }
        (facts.trackNumber, facts.trackCount) = (1, 99_999)
        (facts.discNumber, facts.movementCount) = (2, 3)
        facts.isCompilation = false
        facts.loudness = LoudnessTags(trackGain: -7.25, albumPeak: 1.5)
        facts.chapters = [Chapter(start: 0), Chapter(start: 12.5)]
        facts.hasLyrics = true
        facts.pictureCount = 2
        facts.comments = [
            TrackComment("TITLE", "日本"), TrackComment("odd ö name", "x"),
            TrackComment(String(repeating: "n", count: 256), String(repeating: "v", count: 4096)),
        ]
        facts.pictureType = "image/jpeg"
        facts.duration = 123.456
        facts.lengthTrust = .estimated
        facts.format = MediaFormat(
            codec: "FLAC", sampleRate: 44_100, channels: 2, bitsPerSample: 16, bitRate: 900_000)
        return facts
    }()

    private func read(_ bytes: [UInt8]) throws(TrackMessageError) -> (index: Int, answer: TrackAnswer) {
        var result: Result<(index: Int, answer: TrackAnswer), TrackMessageError>?
        bytes.withUnsafeBytes { bytes in
            do throws(TrackMessageError) {
                let header = try TrackAnswer.Header(UnsafeRawBufferPointer(rebasing: bytes.prefix(8)))
                guard bytes.count == 8 + header.length else { throw TrackMessageError("another length") }
                let body = UnsafeRawBufferPointer(rebasing: bytes[8...])
                result = .success((header.index, try TrackAnswer(header, body)))
            } catch { result = .failure(error) }
        }
        return try result!.get()
    }

    private static let answers: [TrackAnswer] = [
        .found(TrackFacts()), .found(full), .refused(.notRecognised), .refused(.notAFile), .refused(.unreadable(5)),
    ]

    @Test("an answer leads back to the same facts", arguments: answers)
    func same(answer: TrackAnswer) throws {
        var bytes: [UInt8] = [7, 7, 7]
        answer.append(to: &bytes, index: 300)
        #expect(bytes.prefix(3) == [7, 7, 7])
        let found = try read(Array(bytes.dropFirst(3)))
        #expect(found.index == 300 && found.answer == answer)
    }

    @Test("cut and changed answers are refused, or within the limits of a reader")
    func hostile() throws {
        var random = SeededRandom(seed: 5)
        for answer in Self.answers {
            var whole: [UInt8] = []
            answer.append(to: &whole, index: 0)
            for count in whole.indices { #expect(throws: TrackMessageError.self) { try read(Array(whole[..<count])) } }
            #expect(throws: TrackMessageError.self) { try read(whole + [0]) }
            for _ in 0..<(ScanHouse.isLong ? 20_000 : 4000) {
                var bytes = whole
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[Int.random(in: 8..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                guard case .found(let facts)? = try? read(bytes).answer else { continue }
                #expect(facts.tags.entries.count <= TrackTags.maximumEntries)
                #expect(facts.tags.entries.allSatisfy { Self.isClean($0.value) })
                #expect(facts.comments.count <= TrackComments.maximumEntries)
                #expect(facts.comments.allSatisfy { Self.isClean($0.name) && Self.isClean($0.value) })
                #expect((0...TimeLimit.seconds).contains(facts.duration ?? 0))
                #expect(facts.chapters.count <= Chapter.limit && facts.pictureCount <= 32)
            }
        }
    }

    private static func isClean(_ text: String) -> Bool {
        (1...4096).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }
    }

    @Test("orders of another kind or size are none")
    func orders() {
        for files in 1...16 {
            for keepsComments in [false, true] {
                let order = TrackOrder(files: files, keepsComments: keepsComments)
                #expect(TrackOrder(order.bytes) == order)
            }
        }
        for bytes: [UInt8] in [
            [], [3], [3, 0, 0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 17, 0, 0, 0], [1, 0, 0, 0, 1, 0, 0, 0],
            [3, 0, 0, 0, 1, 0, 0, 1], [3, 0, 0, 0, 1, 2, 0, 0], [3, 1, 0, 0, 1, 0, 0, 0], [3, 0, 0, 0, 1, 0, 0, 0, 0],
        ] { #expect(TrackOrder(bytes) == nil) }
    }
}

import NowPlaying
import TestSupport
import Testing

@testable import AudioDecoders

/// Chapters, as the tags of files have them.
@Suite struct ChapterTests {
    private func comments(_ texts: [String]) -> [Chapter] {
        let bytes = texts.map { Array($0.utf8) }
        return VorbisComments(count: bytes.count) { index, limit in Array(bytes[index].prefix(limit)) }.fields.chapters
    }

    @Test("Vorbis comments: times and names, in any order") func vorbis() {
        let chapters = comments([
            "CHAPTER002NAME=Second", "chapter002=00:01:30.500", "CHAPTER001=00:00:00.000", "CHAPTER003=01:00:00",
            "CHAPTER001NAME=First", "TITLE=x",
        ])
        #expect(
            chapters == [
                Chapter(start: 0, title: "First"), Chapter(start: 90.5, title: "Second"), Chapter(start: 3600),
            ])
    }

    @Test("what contradicts itself is left out")
    func broken() {
        #expect(
            comments([
                "CHAPTER001=nonsense", "CHAPTER002=00:61:00", "CHAPTER003=-1:00:00", "CHAPTER1=00:00:01",
                "CHAPTERS=00:00:01", "CHAPTER004NAME=without a time", "CHAPTER005URL=x", "CHAPTER006=00:00:nan",
            ]).isEmpty)
    }

    private func chap(_ start: UInt32, _ frames: [UInt8]) -> [UInt8] {
        func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        return Array("ch0\0".utf8) + number(start) + number(start + 1) + number(.max) + number(.max) + frames
    }

    @Test("ID3: the time and the title among the frames of the chapter", arguments: [3, 4])
    func id3(version: Int) {
        let title = Array("TIT2".utf8) + [0, 0, 0, 5, 0, 0, 3] + Array("Auftakt".utf8.prefix(4))
        let other = Array("TXXX".utf8) + [0, 0, 0, 2, 0, 0, 0, 65]
        #expect(
            ID3v2Chapter.chapter(chap(1500, other + title), version: version) == Chapter(start: 1.5, title: "Auft"))
        #expect(ID3v2Chapter.chapter(chap(0, []), version: version) == Chapter(start: 0))
        let whole = chap(1500, title)
        for length in 0..<20 { #expect(ID3v2Chapter.chapter(Array(whole.prefix(length)), version: version) == nil) }
        for length in 20..<whole.count {
            #expect(ID3v2Chapter.chapter(Array(whole.prefix(length)), version: version)?.start == 1.5)
        }
    }

    @Test("a cue sheet inside of the file") func cueSheet() throws {
        var metadata = MediaMetadata()
        metadata.title = "One"
        let sheet = try CueSheet(
            text: Array(
                """
                FILE "a.flac" WAVE
                TRACK 01 AUDIO
                TITLE "One"
                INDEX 01 00:00:00
                TRACK 02 AUDIO
                TITLE "Two"
                INDEX 01 00:02:00
                """.utf8))
        #expect(sheet.chapters == [Chapter(start: 0, title: "One"), Chapter(start: 2, title: "Two")])
    }
}

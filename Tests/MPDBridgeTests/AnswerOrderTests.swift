import MPDProtocol
import NowPlaying
import TestSupport
import Testing

@testable import MPDBridge

/// The order of lines in answers about folders, values and stickers.
@Suite struct AnswerOrderTests {
    /// Lines that a walk writes between these songs, which come one by one, or as text in two parts.
    private static func walk(below folder: String, _ songs: [String], isText: Bool) async -> String {
        await LoopThread.run {
            var writer = AnswerWriter()
            let walk = FolderWalk(below: Array(folder.utf8), [], withTimes: false)
            let parts = [songs.prefix(2), songs.dropFirst(2)]
            for part in parts where isText {
                walk.pass(part.flatMap { Array("file: \($0)\n".utf8) }, &writer)
            }
            for song in songs where !isText {
                walk.enter(Array(song.utf8), &writer)
                writer.pair("file", song)
            }
            walk.end(&writer)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }

    @Test(arguments: [false, true]) func foldersComeBeforeTheirSongs(isText: Bool) async {
        #expect(
            await Self.walk(below: "", ["x", "a/1", "a/2", "a/b/c/3", "d/4"], isText: isText) == """
                file: x
                directory: a
                file: a/1
                file: a/2
                directory: a/b
                directory: a/b/c
                file: a/b/c/3
                directory: d
                file: d/4

                """)
        #expect(
            await Self.walk(below: "a/b", ["a/b/1", "a/b/c/2"], isText: isText) == """
                directory: a/b
                file: a/b/1
                directory: a/b/c
                file: a/b/c/2

                """)
    }

    /// An outer value is written where it changes alone.
    @Test func valuesHaveHeaders() async {
        let text = await LoopThread.run {
            let counts: [[String]: ValueTable.Count] = [
                ["b", "X"]: .init(), ["a", "X"]: .init(), ["a", ""]: .init(), ["c", "Y"]: .init(),
            ]
            let rows = counts.map { ValueTable.Row($0.key, $0.value) }.sorted(by: ValueTable.precedes)
            var writer = AnswerWriter()
            _ = ValueAnswer([.album, .artist], rows[...]).write(&writer)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
        #expect(
            text == """
                Artist: 
                Album: a
                Artist: X
                Album: a
                Album: b
                Artist: Y
                Album: c

                """)
    }

    @Test(arguments: [
        (["=", "2"], "2", true), (["=", "2"], "02", false), (["eq", "2"], "02", true), ([">", "10"], "9", true),
        (["gt", "10"], "9", false), (["<", "b"], "a", true), (["contains", "ell"], "hello", true),
        (["starts_with", "ell"], "hello", false), ([], "x", true),
    ])
    func stickerTests(_ words: [String], _ value: String, _ fits: Bool) throws {
        #expect(try StickerTest(words.map { Argument($0) }).fits(value) == fits)
    }

    @Test func stickersAreSorted() throws {
        let rows = [("b", "10"), ("a", "9"), ("c", "9")].map { FoundSticker(name: Array($0.0.utf8), value: $0.1) }
        func names(_ words: String...) throws -> String {
            var arguments = words.map { Argument($0) }
            let tail = try StickerTail(&arguments)
            #expect(arguments.isEmpty)
            return tail.sorted(rows).map { String(decoding: $0.name, as: UTF8.self) }.joined()
        }
        #expect(try names() == "abc")
        #expect(try names("sort", "value") == "bac")
        #expect(try names("sort", "-value_int") == "bca")
        #expect(try names("sort", "uri", "window", "1:2") == "b")
        #expect(throws: MPDFailure.self) { _ = try names("sort", "x") }
    }

    @Test(arguments: [
        ("Straße", "STRASSE", true), ("Ünder", "ünder", true), ("Under", "ünder", false), ("ΣΑΣ", "σασ", true),
    ])
    func folding(_ one: String, _ other: String, _ isEqual: Bool) {
        #expect((CaseFolding.fold(one) == CaseFolding.fold(other)) == isEqual)
    }
}

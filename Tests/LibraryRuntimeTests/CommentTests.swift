import ControlProtocol
import Glibc
import TestSupport
import Testing

/// `library.comments`: all fields of a file's tags.
@Suite(.timeLimit(.minutes(5))) struct CommentTests {
    private func flac(_ comments: [String]) -> [UInt8] {
        var options = FLACOptions()
        options.blocks = [AudioMaterial.vorbisComments(comments.map { Array($0.utf8) })]
        return AudioMaterial.noise(frames: 100).flac(options)
    }

    @Test func fieldsAreThoseOfTheFile() async throws {
        let house = LibraryHouse()
        let path = house.folder.write(flac(["TITLE=A", "MY_TAG=one", "odd name=two"]), "music/a.flac")
        let secret = house.folder.write(flac(["TITLE=S"]), "private/s.flac")
        let outside = house.folder.write(flac(["TITLE=O"]), "outside.flac")
        let text = house.folder.write(Array("text".utf8), "music/text.flac")
        #expect(symlink(outside, house.folder.path("music/link.flac")) == 0)
        await house.startLibrary()
        let client = try RawClient(house.librarySocket)
        let found = try client.call("library.comments", ["uri": .string(path)])
        #expect(
            found["result"] == [
                "comments": [
                    ["name": "TITLE", "value": "A"], ["name": "MY_TAG", "value": "one"],
                    ["name": "odd name", "value": "two"],
                ]
            ], "\(found)")
        // The database does not need to know the file, or its present tags.
        _ = house.folder.write(flac(["TITLE=B"]), "music/a.flac")
        let later = try client.call("library.comments", ["uri": .string("file://" + path)])["result"]
        #expect(later == ["comments": [["name": "TITLE", "value": "B"]]])
        let own = try client.call("library.comments", ["uri": .string(secret)])["result"]
        #expect(own == ["comments": [["name": "TITLE", "value": "S"]]])
        for wrong in [outside, text, house.folder.path("music/link.flac"), path + "x", house.folder.path("music")] {
            #expect(try client.call("library.comments", ["uri": .string(wrong)]).errorCode == 100, "\(wrong)")
        }
        guard geteuid() == 0 else { return }
        let answers = await house.stranger([
            ("library.comments", ["uri": .string(path)]), ("library.comments", ["uri": .string(secret)]),
        ])
        #expect(answers.first?["result"] == later && answers.last?.errorCode == 100, "\(answers)")
    }
}

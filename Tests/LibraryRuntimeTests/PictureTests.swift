import ControlProtocol
import Glibc
import TestSupport
import Testing
import TrackDatabase

/// `library.artwork`: pictures in files and beside them.
@Suite(.timeLimit(.minutes(5))) struct PictureTests {
    /// A GIF of so many pixels, of which only the header matters.
    private func gif(_ width: UInt8, _ height: UInt8) -> [UInt8] {
        Array("GIF89a".utf8) + [width, 0, height, 0, 0x80, 0, 0] + [0, 0, 0, 255, 255, 255]
            + [0x2C, 0, 0, 0, 0, width, 0, height, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]
    }

    @Test func picturesLieInTheCache() async throws {
        let house = LibraryHouse()
        house.folder.folder("music/one")
        _ = house.folder.write(gif(40, 30), "music/one/cover.gif")
        _ = house.folder.write(gif(9, 9), "private/folder.gif")
        try house.fill([
            .init(place: "music/one/a.wav", title: "A", number: 1),
            .init(place: "music/two/b.wav", title: "B", album: nil),
            .init(place: "private/p.wav", title: "P", album: nil),
        ])
        await house.startLibrary()
        let client = try RawClient(house.librarySocket)
        let found = try client.call("library.artwork", ["uri": "music/one/a.wav", "size": 600])["result"]
        #expect(
            found?["width"] == 40 && found?["height"] == 30 && found?["type"] == "image/gif",
            "\(String(describing: found))")
        let path = try #require(found?["path"]?.stringValue)
        #expect(path.hasPrefix(house.folder.path("cache/nowplaying-library/artwork/")))
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_size == gif(40, 30).count)
        let row = try client.call("library.query", ["filter": ["title": ["is": "A"]], "fields": ["albumId"]])
        let album = try #require(row["result"]?["rows"]?.arrayValue?.first?["albumId"])
        #expect(try client.call("library.artwork", ["album": album])["result"]?["id"] == found?["id"])
        let none = try client.call("library.artwork", ["uri": "music/two/b.wav"])
        #expect(none.errorCode == 100 && none["error"]?["data"]?["reason"] == "noArtwork", "\(none)")
        #expect(try client.call("library.artwork", ["album": 999_999]).errorCode == 100)
        #expect(try client.call("library.artwork", ["uri": "http://radio.invalid/a"]).errorCode == 100)
        #expect(try client.call("library.artwork", ["uri": "private/p.wav"])["result"]?["width"] == 9)
        guard geteuid() == 0 else { return }
        let answers = await house.stranger([
            ("library.artwork", ["uri": "music/one/a.wav"]), ("library.artwork", ["uri": "private/p.wav"]),
        ])
        #expect(answers.first?["result"]?["id"] == found?["id"] && answers.last?.errorCode == 403, "\(answers)")
    }

    /// The names of pictures and of substitutes are those of the daemon's section, also after a reload.
    @Test func theSettingsOfTheDaemonHold() async throws {
        let house = LibraryHouse(settings: "[artwork]\nnames = Scan, booklet\n")
        for name in ["one", "two", "three"] { house.folder.folder("music/" + name) }
        _ = house.folder.write(gif(40, 30), "music/one/cover.gif")
        _ = house.folder.write(gif(7, 7), "music/one/SCAN.GIF")
        _ = house.folder.write(gif(9, 9), "music/two/cover.gif")
        _ = house.folder.write(gif(3, 3), "standin.gif")
        try house.fill([
            .init(place: "music/one/a.wav", title: "A"), .init(place: "music/two/b.wav", title: "B"),
            .init(place: "music/three/c.wav", title: "C"),
        ])
        await house.startLibrary()
        let client = try RawClient(house.librarySocket)
        func width(_ place: String) throws -> JSONValue? {
            try client.call("library.artwork", ["uri": .string(place)])["result"]?["width"]
        }
        #expect(try width("music/one/a.wav") == 7)
        #expect(try width("music/two/b.wav") == nil)
        #expect(try width("music/three/c.wav") == nil)
        house.configure("[artwork]\nnames = cover\nplaceholder = \(house.folder.path("standin.gif"))\n")
        try #require(house.process("nowplaying-library")).signal(SIGHUP)
        #expect(becomes { (try? width("music/two/b.wav")) == 9 })
        #expect(try width("music/one/a.wav") == 40)
        #expect(try width("music/three/c.wav") == 3)
        // A mistake changes nothing.
        house.configure("[artwork]\nnames = a/b\n")
        try #require(house.process("nowplaying-library")).signal(SIGHUP)
        house.configure("[artwork]\nnames = booklet\n")
        try #require(house.process("nowplaying-library")).signal(SIGHUP)
        #expect(becomes { (try? client.call("library.artwork", ["uri": "music/two/b.wav"]).errorCode) == 100 })
    }
}

import Glibc
import TestSupport
import Testing

/// The verbs of MPD 0.24, the version that clients are greeted with.
@Suite(.timeLimit(.minutes(5)), .serialized) struct NewVerbTests {
    private let folder = TemporaryFolder()

    /// A house with three songs, `a.flac` to `c.flac`, of two artists.
    private func house() async throws -> MPDHouse {
        let music = folder.folder("music")
        let sound = AudioMaterial(
            sampleRate: 44_100, channels: 1, bits: 16, samples: Array(repeating: 0, count: 44_100))
        for (name, artist) in [("a", "Anna"), ("b", "anna"), ("c", "Björk")] {
            var options = FLACOptions()
            options.blocks = [
                AudioMaterial.vorbisComments(["ARTIST=\(artist)", "TITLE=Song \(name)"].map { Array($0.utf8) })
            ]
            _ = folder.write(sound.flac(options), "music/\(name).flac")
        }
        return await MPDHouse.start(in: folder, music: (music, 3))
    }

    /// The files of an answer that ends well.
    private func files(_ client: LineClient, _ request: String) throws -> [String] {
        let answer = try client.ask(request)
        #expect(answer.last == "OK", "\(request): \(answer)")
        return answer.filter { $0.hasPrefix("file: ") }.map { String($0.dropFirst(6)) }
    }

    @Test("stored playlists: modes of save, ranges, lengths, searches and the last one that was loaded") func lists()
        async throws
    {
        let house = try await house()
        let client = try house.client()
        #expect(try client.ask("add \"\"") == ["OK"])
        for mode in ["", " append", " replace"] { #expect(try client.ask("save x\(mode)") == ["OK"]) }
        #expect(try client.ask("save x append") == ["OK"])
        #expect(try client.ask("save x create")[0].hasPrefix("ACK [56@0] {save} "))
        #expect(try client.ask("save y append")[0].hasPrefix("ACK [50@0] {save} "))
        #expect(try files(client, "listplaylist x") == ["a", "b", "c", "a", "b", "c"].map { $0 + ".flac" })
        #expect(try files(client, "listplaylist x 1:3") == ["b.flac", "c.flac"])
        #expect(try files(client, "listplaylistinfo x 5:") == ["c.flac"])
        #expect(try client.ask("playlistlength x") == ["songs: 6", "playtime: 6", "OK"])
        #expect(
            try files(client, "searchplaylist x \"(artist == \\\"Anna\\\")\"") == [
                "a.flac", "b.flac", "a.flac", "b.flac",
            ])
        #expect(try files(client, "searchplaylist x \"(artist == \\\"Anna\\\")\" window 1:3") == ["b.flac", "a.flac"])
        #expect(try client.ask("playlistmove x 0:2 4") == ["OK"])
        #expect(try files(client, "listplaylist x") == ["c", "a", "b", "c", "a", "b"].map { $0 + ".flac" })
        #expect(try client.ask("playlistdelete x 1:5") == ["OK"])
        // A file of this machine outside of the library.
        let other = folder.silence("other.wav", seconds: 1)
        #expect(try client.ask("playlistadd z \"\(other)\"") == ["OK"])
        #expect(try files(client, "listplaylist z") == ["file://\(other)"])
        #expect(try client.ask("clear") == ["OK"])
        #expect(try client.ask("status").contains("lastloadedplaylist: "))
        #expect(try client.ask("load x") == ["OK"])
        #expect(try client.value("lastloadedplaylist", of: "status") == "x")
        for name in ["nothing", "no/thing"] {
            #expect(try client.ask("load \(name)") == ["ACK [50@0] {load} No such playlist"])
        }
        #expect(try client.value("lastloadedplaylist", of: "status") == "x")
        #expect(try client.ask("clear") == ["OK"])
        #expect(try client.value("lastloadedplaylist", of: "status") == "")
    }

    @Test("filters: beginnings, the case of letters, times of additions, and priorities in the queue") func filters()
        async throws
    {
        let house = try await house()
        let client = try house.client()
        for (filter, expected) in [
            ("(title starts_with 'Song')", "abc"), ("(title starts_with 'song')", ""),
            ("(artist eq_cs 'anna')", "b"), ("(artist eq_ci 'ANNA')", "ab"), ("(artist !eq_ci 'ANNA')", "c"),
            ("(artist contains_cs 'nn')", "ab"), ("(artist contains_ci 'NN')", "ab"),
            ("(title starts_with_ci 'SONG')", "abc"), ("(added-since '2020-01-01')", "abc"),
            ("(added-since '4000000000')", ""),
        ] {
            #expect(try files(client, "find \"\(filter)\"") == expected.map { "\($0).flac" }, "\(filter)")
        }
        #expect(try files(client, "find \"(base '')\" sort -Added").count == 3)
        #expect(try client.ask("searchcount artist anna") == ["songs: 2", "playtime: 2", "OK"])
        #expect(try client.ask("add \"\"") == ["OK"])
        #expect(try client.ask("prio 7 1") == ["OK"])
        #expect(try files(client, "playlistfind \"(prio >= 5)\"") == ["b.flac"])
        #expect(try files(client, "playlistsearch artist anna sort -title window 0:1") == ["b.flac"])
        #expect(try client.ask("consume oneshot") == ["OK"])
        #expect(try client.value("consume", of: "status") == "oneshot")
        #expect(try client.value("Added", of: "find title \"Song a\"") != nil)
    }

    @Test("features and tags of a connection") func connection() async throws {
        let house = try await house()
        let client = try house.client()
        #expect(try client.ask("protocol") == ["OK"])
        #expect(try client.ask("protocol available") == ["feature: hide_playlists_in_root", "OK"])
        #expect(try client.ask("add \"\"") == ["OK"])
        #expect(try client.ask("save x") == ["OK"])
        #expect(try client.ask("lsinfo").contains("playlist: x"))
        #expect(try client.ask("protocol enable hide_playlists_in_root") == ["OK"])
        #expect(try client.ask("protocol") == ["feature: hide_playlists_in_root", "OK"])
        #expect(try !client.ask("lsinfo").contains("playlist: x"))
        for verb in ["clear", "all", "disable hide_playlists_in_root"] {
            #expect(try client.ask("protocol \(verb)") == ["OK"])
        }
        #expect(try client.ask("lsinfo").contains("playlist: x"))
        #expect(try client.ask("protocol enable nonsense")[0].hasPrefix("ACK [2@0] {protocol} "))
        let all = try client.ask("tagtypes available")
        for tag in ["TitleSort", "Mood", "ShowMovement"] { #expect(all.contains("tagtype: \(tag)")) }
        #expect(try client.ask("tagtypes reset Title") == ["OK"])
        #expect(try client.ask("tagtypes") == ["tagtype: Title", "OK"])
        #expect(try client.ask("find title \"Song a\"").contains { $0.hasPrefix("Artist") } == false)
        let words = try client.ask("commands")
        for word in [
            "playlistlength", "protocol", "searchcount", "searchplaylist", "stickernames", "stickernamestypes",
            "stickertypes",
        ] { #expect(words.contains("command: \(word)"), "\(word)") }
    }

    @Test("stickers: kinds, names, numbers, order and windows") func stickers() async throws {
        let house = try await house()
        let client = try house.client()
        #expect(try client.ask("stickertypes").contains("stickertype: song"))
        for (song, value) in [("a", "10"), ("b", "9"), ("c", "x10")] {
            #expect(try client.ask("sticker set song \(song).flac n \(value)") == ["OK"])
        }
        #expect(try client.ask("sticker inc song a.flac n 5") == ["OK"])
        #expect(try client.ask("sticker dec song a.flac n 4") == ["OK"])
        #expect(try client.ask("sticker get song a.flac n") == ["sticker: n=11", "OK"])
        #expect(try client.ask("sticker set Artist Anna mood calm") == ["OK"])
        #expect(try client.ask("sticker get Artist Anna mood") == ["sticker: mood=calm", "OK"])
        #expect(try files(client, "sticker find song \"\" n sort value_int") == ["c.flac", "b.flac", "a.flac"])
        #expect(try files(client, "sticker find song \"\" n sort -value window 0:2") == ["c.flac", "b.flac"])
        for (test, expected) in [
            ("eq 9", ["b"]), ("gt 9", ["a"]), ("lt 9", ["c"]), ("contains 1", ["a", "c"]), ("starts_with x", ["c"]),
        ] {
            #expect(try files(client, "sticker find song \"\" n \(test)") == expected.map { $0 + ".flac" }, "\(test)")
        }
        let names = try client.ask("stickernames")
        #expect(names.contains("name: mood") && names.contains("name: n"))
        let pairs = try client.ask("stickernamestypes Artist")
        #expect(pairs == ["name: mood", "type: Artist", "OK"])
    }

    @Test("readcomments answers all fields of a file by names that clients can read") func comments() async throws {
        let music = folder.folder("music")
        var options = FLACOptions()
        let given = ["TITLE=A: b", "MY_TAG=one\ntwo", "MY_TAG=3", "odd name=x", "FORGED\nOK=y", "a-b=z"]
        options.blocks = [AudioMaterial.vorbisComments(given.map { Array($0.utf8) })]
        let sound = AudioMaterial(sampleRate: 44_100, channels: 1, bits: 16, samples: Array(repeating: 0, count: 441))
        _ = folder.write(sound.flac(options), "music/a.flac")
        let house = await MPDHouse.start(in: folder, music: (music, 1))
        let client = try house.client()
        #expect(
            try client.ask("readcomments a.flac") == ["TITLE: A: b", "MY_TAG: one two", "MY_TAG: 3", "a-b: z", "OK"])
        #expect(try client.ask("commands").contains("command: readcomments"))
        for wrong in ["none.flac", "\"\"", "..", "/etc/passwd", "http://radio.invalid/a"] {
            let answer = try client.ask("readcomments \(wrong)")
            #expect(answer[0].hasPrefix("ACK [50@0] {readcomments} "), "\(wrong): \(answer)")
        }
    }
}

import Testing

@testable import MPDProtocol

/// Filters: their two forms, their faults, and songs that fulfil them.
@Suite struct FilterTests {
    private struct Song: FilteredSong {
        var tags: [(MPDTag, String)] = []
        var file = "dir/song.flac"
        var modified: Int64? = 1_000_000
        var added: Int64?
        var sampleRate: Int? = 44_100
        var bits: FormatTest.SampleBits? = .whole(16)
        var channels: Int? = 2
        var priority = 0
        func values(_ tag: MPDTag) -> [String] { tags.filter { $0.0 == tag }.map(\.1) }
    }

    private static let comparison = TextComparison(
        fold: { $0.lowercased() }, matches: { text, pattern, _ in text.contains(pattern) })

    private func parse(_ arguments: [String], foldsCase: Bool = false) -> Result<SongFilter, MPDFailure> {
        Result { () throws(MPDFailure) in try FilterParser(foldsCase: foldsCase).filter(arguments.map { Argument($0) })
        }
    }

    private func test(_ relation: TextTest.Relation, _ value: String, folds: Bool = false, not: Bool = false)
        -> TextTest
    {
        TextTest(relation, value, foldsCase: folds, isNegated: not)
    }

    @Test("pairs compare whole values, and parts where they search") func pairs() {
        #expect(parse(["artist", "A"]) == .success(.text(.tag(.artist), test(.equals, "A"))))
        #expect(
            parse(["ARTIST", "A"], foldsCase: true) == .success(.text(.tag(.artist), test(.contains, "A", folds: true)))
        )
        #expect(parse(["file", "x"]) == .success(.text(.file, test(.equals, "x"))))
        #expect(parse(["any", "x"]) == .success(.text(.any, test(.equals, "x"))))
        #expect(parse(["base", "a/b/"]) == .failure(MPDFailure(.argument, "Bad URI")))
        #expect(parse(["base", "a/b"]) == .success(.base(Array("a/b".utf8))))
        #expect(parse(["modified-since", "1500000000"]) == .success(.modifiedSince(1_500_000_000)))
        #expect(
            parse(["artist", "A", "album", "B"])
                == .success(.all([.text(.tag(.artist), test(.equals, "A")), .text(.tag(.album), test(.equals, "B"))])))
    }

    @Test("expressions") func expressions() {
        let artist = SongFilter.text(.tag(.artist), test(.equals, "A"))
        let album = SongFilter.text(.tag(.album), test(.equals, "B", not: true))
        let table: [(String, SongFilter)] = [
            ("(Artist == 'A')", artist), ("( artist  ==  \"A\" )", artist), ("((Artist == 'A'))", artist),
            ("(album != 'B')", album), ("((Artist == 'A') AND (Album != 'B'))", .all([artist, album])),
            ("(!(Artist == 'A'))", .not(artist)),
            ("((!(Artist == 'A')) AND (Album != 'B') AND (Artist == 'A'))", .all([.not(artist), album, artist])),
            (#"(Title contains 'a\'b')"#, .text(.tag(.title), test(.contains, "a'b"))),
            ("(Title !contains 'a')", .text(.tag(.title), test(.contains, "a", not: true))),
            ("(Title starts_with 'a')", .text(.tag(.title), test(.startsWith, "a"))),
            ("(Title eq_ci 'a')", .text(.tag(.title), test(.equals, "a", folds: true))),
            ("(Title !contains_cs 'a')", .text(.tag(.title), test(.contains, "a", not: true))),
            ("(Title =~ '^a.*')", .text(.tag(.title), test(.matches, "^a.*"))),
            ("(Title !~ 'a')", .text(.tag(.title), test(.matches, "a", not: true))),
            ("(base 'a/b/')", .base(Array("a/b".utf8))), ("(file == 'a')", .text(.file, test(.equals, "a"))),
            ("(any contains 'a')", .text(.any, test(.contains, "a"))),
            ("(modified-since '2001-09-09T01:46:40Z')", .modifiedSince(1_000_000_000)),
            ("(added-since '1000000000')", .addedSince(1_000_000_000)), ("(prio >= 10)", .priority(10)),
        ]
        for (text, expected) in table { #expect(parse([text]) == .success(expected), "\(text)") }
        #expect(
            parse(["(Artist == 'A')", "album", "B"])
                == .success(.all([artist, .text(.tag(.album), test(.equals, "B"))])))
    }

    @Test(
        "faults have MPD's words",
        arguments: [
            ([], "Incorrect number of filter arguments"), (["artist"], "Incorrect number of filter arguments"),
            (["nope", "x"], "Unknown filter type"), (["(nope == 'x')"], "Unknown filter type: nope"),
            (["()"], "Word expected"), (["(Artist"], "'==' or '!=' expected"),
            (["(Artist = 'x')"], "'==' or '!=' expected"), (["(Artist == x)"], "Quoted string expected"),
            (["(Artist == 'x)"], "Closing quote not found"), (["(Artist == 'x'"], "')' expected"),
            (["(Artist == 'x') y"], "Unparsed garbage after expression"),
            (["((Artist == 'x') OR (Artist == 'y'))"], "'AND' expected"), (["(!Artist == 'x')"], "'(' expected"),
            (["(AudioFormat != '1')"], "'==' or '=~' expected"),
            (["(Artist == '" + String(repeating: "x", count: 5000) + "')"], "Quoted value is too long"),
            ([String(repeating: "(", count: 100)], "Expression is nested too deeply"),
        ] as [([String], String)])
    func faults(arguments: [String], message: String) {
        #expect(parse(arguments) == .failure(MPDFailure(.argument, message)))
    }

    @Test("songs that fulfil a filter") func matching() throws {
        let song = Song(tags: [(.artist, "Ann"), (.artist, "Bob"), (.title, "Time")], added: 500)
        let table: [(String, Bool)] = [
            ("(Artist == 'Ann')", true), ("(Artist == 'Bob')", true), ("(Artist == 'ann')", false),
            ("(Artist != 'Ann')", false), ("(Artist != 'Cid')", true), ("(Artist eq_ci 'ANN')", true),
            // The artist stands in for the album's artist.
            ("(AlbumArtist == 'Bob')", true), ("(AlbumArtist != 'Bob')", false), ("(AlbumArtist == '')", false),
            ("(Album == '')", true), ("(Album != '')", false), ("(Artist == '')", false),
            ("(any contains 'im')", true), ("(any contains 'song')", false), ("(file contains 'song')", true),
            ("(Title starts_with 'Ti')", true), ("(Title starts_with 'im')", false), ("(Title =~ 'im')", true),
            ("(base 'dir')", true), ("(base 'di')", false), ("(base '')", true),
            ("(modified-since '1000000')", true), ("(modified-since '1000001')", false),
            ("(added-since '00500')", true), ("(prio >= 1)", false), ("(prio >= 0)", true),
            ("(AudioFormat == '44100:16:2')", true), ("(AudioFormat =~ '44100:*:*')", true),
            ("(AudioFormat =~ '48000:*:*')", false), ("(AudioFormat =~ '*:f:*')", false),
            ("((Artist == 'Ann') AND (!(Title == 'Time')))", false),
        ]
        for (text, expected) in table {
            #expect(try parse([text]).get().matches(song, Self.comparison) == expected, "\(text)")
        }
    }

    @Test("options are read from the end") func tails() throws {
        var arguments = ["artist", "A", "sort", "-Date", "window", "5:10"].map { Argument($0) }
        let tail = try QueryTail(&arguments, [.window, .sort])
        #expect(tail.window == MPDRange(5, 10))
        #expect(try tail.sort == QueryTail.Sort(Argument("-date")))
        #expect(arguments == [Argument("artist"), Argument("A")])

        var groups = ["album", "group", "albumartist", "group", "date"].map { Argument($0) }
        #expect(try QueryTail(&groups, .groups).groups == [.albumArtist, .date])
        #expect(groups == [Argument("album")])

        var wrong = ["artist", "A", "sort", "nope"].map { Argument($0) }
        #expect(throws: MPDFailure(.argument, "Unknown sort tag")) { try QueryTail(&wrong, .sort) }
        var unknown = ["album", "group", "nope"].map { Argument($0) }
        #expect(throws: MPDFailure(.argument, "Unknown tag type: nope")) { try QueryTail(&unknown, .groups) }
    }

    @Test("formats", arguments: ["44100:16:2", "*:*:*", "44100:f:1", "2822400:dsd:2", "x", "44100:16", "44100:17:2"])
    func formats(text: String) {
        let isFormat = !["x", "44100:16", "44100:17:2"].contains(text)
        #expect((FormatTest(text, isMask: true) != nil) == isFormat)
        #expect((FormatTest(text, isMask: false) != nil) == (isFormat && !text.contains("*")))
    }
}

import ControlProtocol
import NowPlayingClient
import Testing

/// Filters of the library as people write them.
@Suite struct LibraryFilterTests {
    @Test(
        arguments: [
            (.artist, "miles*", #"{"any":[{"artist":{"matches":"miles*"}},{"albumArtist":{"matches":"miles*"}}]}"#),
            (.artist, "", #"{"artist":{"missing":true}}"#), (.album, "Kind", #"{"album":{"matches":"Kind"}}"#),
            (.albumArtist, "x", #"{"albumArtist":{"matches":"x"}}"#), (.genre, "", #"{"genre":{"missing":true}}"#),
            (.year, "1994", #"{"all":[{"date":{"atLeast":"1994"}},{"date":{"atMost":"1994"}}]}"#),
            (.year, "1990-1999", #"{"all":[{"date":{"atLeast":"1990"}},{"date":{"atMost":"1999"}}]}"#),
            (.year, "1990-", #"{"date":{"atLeast":"1990"}}"#), (.year, "-1999", #"{"date":{"atMost":"1999"}}"#),
            (
                .folder, "Music/Jazz/",
                #"{"folder":{"below":"Music/Jazz"}}"#
            ),
            (.rating, "4", #"{"rating":{"atLeast":4}}"#), (.rating, "0", #"{"rating":{"atLeast":0}}"#),
            (.rating, "2-3", #"{"all":[{"rating":{"atLeast":2}},{"rating":{"atMost":3}}]}"#),
            (.liked, "", #"{"liked":{"is":true}}"#),
            (.notPlayedSince, "1d", #"{"any":[{"lastPlayed":{"before":"1d"}},{"lastPlayed":{"missing":true}}]}"#),
            (.addedSince, "12h", #"{"added":{"atLeast":"12h"}}"#),
            (.addedSince, "2025-05-01", #"{"added":{"atLeast":"2025-05-01"}}"#),
            (.addedSince, "2025", #"{"added":{"atLeast":"2025"}}"#),
            (.addedSince, "6mo", #"{"added":{"atLeast":"6mo"}}"#),
            (.filter, #"{"not":{"genre":{"is":"x"}}}"#, #"{"not":{"genre":{"is":"x"}}}"#),
        ] as [(LibraryTest, String, String)])
    func testsAreRead(test: LibraryTest, text: String, json: String) throws {
        #expect(JSONWriter.text(try test.json(text)) == json)
    }

    @Test(
        arguments: [
            (.year, ["", "-", "94", "1990-1980-1970", "x", "1990-x", "199o"]),
            (.rating, ["", "6", "x", "3-2", "1-6", "-1"]),
            (.notPlayedSince, ["", "1", "x", "1m", "1 y", "yesterday", "2025-5-1", "2025-05-01-01", "99999d", "-1d"]),
            (
                .filter,
                [
                    "", " ", "{", "{]", "or", "a or", "or a", "not", "rating>=x", "rating=1:2", "liked=perhaps",
                    "liked>yes",
                    "added=30d", "added>=soon", "title=\"x", "rating~4", "duration=1:2:3:4", "a or or b", "year=nil or",
                ]
            ),
        ] as [(LibraryTest, [String])])
    func othersAreRefused(test: LibraryTest, texts: [String]) {
        for text in texts {
            #expect(throws: LibraryTest.Mistake.self, "\(test) \(text)") { try test.json(text) }
        }
    }

    @Test(
        arguments: [
            ("genre=jazz", #"{"genre":{"matches":"jazz"}}"#),
            ("genre=jazz rating>=4", #"{"all":[{"genre":{"matches":"jazz"}},{"rating":{"atLeast":4}}]}"#),
            (
                "genre=jazz OR genre = 'hard bop'",
                #"{"any":[{"genre":{"matches":"jazz"}},{"genre":{"matches":"hard bop"}}]}"#
            ),
            ("rating > 3", #"{"all":[{"rating":{"atLeast":3}},{"not":{"rating":{"is":3}}}]}"#),
            ("not liked=yes", #"{"not":{"liked":{"is":true}}}"#), ("liked=no", #"{"liked":{"is":false}}"#),
            ("genre!=rock", #"{"not":{"genre":{"matches":"rock"}}}"#), ("genre=", #"{"genre":{"missing":true}}"#),
            ("genre= mood=calm", #"{"all":[{"genre":{"missing":true}},{"mood":{"matches":"calm"}}]}"#),
            (#"artist~"miles d""#, #"{"artist":{"contains":"miles d"}}"#),
            ("year=1990-1999", #"{"all":[{"date":{"atLeast":"1990"}},{"date":{"atMost":"1999"}}]}"#),
            ("year<1960", #"{"date":{"before":"1960"}}"#), ("date>=1960-05", #"{"date":{"atLeast":"1960-05"}}"#),
            ("added>=30d", #"{"added":{"atLeast":"30d"}}"#), ("last-played<1y", #"{"lastPlayed":{"before":"1y"}}"#),
            ("added=2025-05", #"{"added":{"is":"2025-05"}}"#), ("played=", #"{"lastPlayed":{"missing":true}}"#),
            ("length<=4:30", #"{"duration":{"atMost":270}}"#), ("plays=0", #"{"playCount":{"is":0}}"#),
            ("miles AC/DC", #"{"all":[{"anyTag":{"contains":"miles"}},{"anyTag":{"contains":"AC/DC"}}]}"#),
            ("'or' \"not\"", #"{"all":[{"anyTag":{"contains":"or"}},{"anyTag":{"contains":"not"}}]}"#),
            ("folder=Music/Jazz", #"{"folder":{"below":"Music/Jazz"}}"#),
            ("codec=flac", #"{"codec":{"matches":"flac"}}"#),
            ("gnere=x", #"{"gnere":{"matches":"x"}}"#), ("ö=1", #"{"anyTag":{"contains":"ö=1"}}"#),
            (" {\"not\":{}}", #"{"not":{}}"#),
        ])
    func filtersAreTyped(text: String, json: String) throws {
        #expect(JSONWriter.text(try LibraryTest.filter.json(text)) == json)
    }

    @Test(
        arguments: [
            ("artists", "artist"), ("album-artist", "albumArtist"), ("albumartist", "albumArtist"),
            ("AlbumArtists", "albumArtist"), ("Genres", "genre"), ("date", "date"), ("year", "date"),
            ("any", "anyTag"), ("file", "uri"), ("originaldate", "originalDate"),
            ("musicBrainzWorkId", "musicBrainzWorkId"),
            ("nonsense", "nonsense"), ("s", "s"),
        ])
    func tagsHaveSeveralNames(word: String, name: String) { #expect(LibraryTags.name(word) == name) }

    @Test(
        arguments: [
            ("album", "X", #"{"album":{"matches":"X"}}"#), ("track", "3", #"{"trackNumber":{"is":3}}"#),
            ("date", "1994", #"{"all":[{"date":{"atLeast":"1994"}},{"date":{"atMost":"1994"}}]}"#),
            ("date", "May 1994", #"{"date":{"matches":"May 1994"}}"#),
            ("file", "a/b.flac", #"{"uri":{"matches":"a/b.flac"}}"#),
            ("base", "a", #"{"folder":{"below":"a"}}"#),
        ])
    func pairsOfMPC(tag: String, text: String, json: String) throws {
        #expect(JSONWriter.text(try LibraryTags.test(tag, text)) == json)
    }

    @Test func severalTestsMustAllHold() {
        #expect(LibraryTest.all([]) == nil)
        #expect(LibraryTest.all([["a": 1]]) == ["a": 1])
        #expect(LibraryTest.all([["a": 1], ["b": 2]]) == ["all": [["a": 1], ["b": 2]]])
    }

    @Test func rowsGiveTemplatesTheirValues() throws {
        let row = LibraryRow([
            "title": "So What\u{1B}", "artist": "Miles Davis", "album": "Kind of Blue", "duration": 545, "rating": 0.8,
            "liked": true, "artists": ["A", "B\n"], "path": "Music/x.flac", "tags": ["genre": ["Jazz"]],
        ])
        let template = try Template(
            "{{title}}|{{xesam:album}}|{{duration(duration)}}|{{mpris:length}}|{{artists}}|{{liked}}|{{tags.genre}}|{{no}}|"
        )
        #expect(
            template.expand(row.variable) == "So What\u{FFFD}|Kind of Blue|9:05|545000000|A, B |true|Jazz||")
        #expect(row.name == "Miles Davis – So What\u{FFFD}")
        #expect(LibraryRow(["path": "Music/a/01 x.flac"]).name == "01 x.flac")
        #expect(LibraryRow.field(of: "mpris:length") == "duration" && LibraryRow.field(of: "tags.genre") == "tags")
    }

    @Test func theSocketStandsBesideTheDaemons() {
        let daemons = ["/a/nowplayingd/control.sock", "/b/nowplayingd/control.sock", "/c/control.sock"]
        func paths(_ variable: String?, _ present: Set<String>) -> [String] {
            SocketLocation.library(beside: daemons, environment: { _ in variable }, exists: present.contains)
        }
        #expect(paths("/x", []) == ["/x"])
        #expect(paths(nil, []) == ["/a/nowplayingd/library.sock", "/b/nowplayingd/library.sock", "/c/library.sock"])
        #expect(paths("", [daemons[0]]) == ["/a/nowplayingd/library.sock"])
        #expect(paths(nil, [daemons[1]]) == ["/a/nowplayingd/library.sock", "/b/nowplayingd/library.sock"])
    }

    @Test(arguments: [
        ("/a/../b", "/b"), ("/a/./b/", "/a/b"), ("/..", "/"), ("/../../a", "/a"), ("/a/b/../../c", "/c"),
    ])
    func pathsAreMadeDirect(path: String, direct: String) {
        #expect(FileName.direct(Array(path.utf8)) == Array(direct.utf8))
        #expect(FileName.encoded(ofAbsolutePath: Array("/a b/ü".utf8)) == "file:///a%20b/%C3%BC")
    }
}

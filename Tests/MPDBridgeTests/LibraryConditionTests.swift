import ControlProtocol
import MPDProtocol
import NowPlaying
import TestSupport
import Testing

@testable import MPDBridge

/// Filters of MPD in words of the library.
@Suite struct LibraryConditionTests {
    private static let names = SongNames([.init(name: Array("music".utf8), path: Array("/srv/music".utf8))])
    private static let two = SongNames([
        .init(name: Array("a".utf8), path: Array("/srv/a".utf8)),
        .init(name: Array("b".utf8), path: Array("/mnt/b".utf8)),
    ])

    private static func condition(
        _ words: [String], folds: Bool = false, _ names: SongNames = names
    ) throws -> LibraryCondition {
        LibraryCondition(try FilterParser(foldsCase: folds).filter(words.map { Argument($0) }), names)
    }

    private static let exact: [([String], String)] = [
        (["artist", "X"], #"{"artist":{"is":"X"}}"#),
        (["title", "X"], #"{"all":[{"title":{"is":"X"}},{"not":{"title":{"missing":true}}}]}"#),
        (["album", ""], #"{"album":{"missing":true}}"#),
        (["track", "7"], #"{"trackNumber":{"is":7}}"#),
        (["track", "07"], #"{"any":[]}"#),
        (
            ["albumartist", "X"],
            #"{"any":[{"albumArtist":{"is":"X"}},{"all":[{"albumArtist":{"missing":true}},{"artist":{"is":"X"}}]}]}"#
        ),
        (["(artist != \"X\")"], #"{"not":{"artist":{"is":"X"}}}"#),
        (["(!(artist == \"X\"))"], #"{"not":{"artist":{"is":"X"}}}"#),
        (["artist", "X", "genre", "Y"], #"{"all":[{"artist":{"is":"X"}},{"genre":{"is":"Y"}}]}"#),
        (["base", "deep/er"], #"{"folder":{"below":"/srv/music/deep/er"}}"#),
        (["(modified-since \"86400000\")"], #"{"modified":{"atLeast":86400000}}"#),
        (["(added-since \"1970-01-02\")"], #"{"added":{"atLeast":86400}}"#),
        (["file", "a/b.flac"], #"{"uri":{"is":"/srv/music/a/b.flac"}}"#),
        (
            ["(AudioFormat =~ \"44100:16:*\")"],
            #"{"all":[{"sampleRate":{"is":44100}},{"bitsPerSample":{"is":16}}]}"#
        ),
        (["(prio >= 1)"], #"{"any":[]}"#),
    ]

    @Test(arguments: exact)
    func exactConditions(_ words: [String], _ wanted: String) throws {
        let condition = try Self.condition(words)
        #expect(condition.isExact)
        #expect(condition.json.map { JSONWriter.text($0) } == wanted)
    }

    private static let proposed: [([String], Bool, String?)] = [
        (["artist", "x"], true, #"{"artist":{"contains":"x"}}"#),
        (["(artist contains \"x\")"], false, #"{"artist":{"contains":"x"}}"#),
        (["(artist starts_with \"x\")"], false, #"{"artist":{"startsWith":"x"}}"#),
        (["any", "xyz"], true, #"{"anyTag":{"contains":"xyz"}}"#),
        (["(artist =~ \"x\")"], false, nil),
        (["any", "19"], true, nil),
        (["(artist !contains \"x\")"], false, nil),
        (["file", "x"], true, nil),
    ]

    /// The library folds more than the case: it proposes, and the bridge looks at the songs.
    @Test(arguments: proposed)
    func proposals(_ words: [String], _ folds: Bool, _ wanted: String?) throws {
        let condition = try Self.condition(words, folds: folds)
        #expect(!condition.isExact)
        #expect(condition.json.map { JSONWriter.text($0) } == wanted)
    }

    @Test func allSongs() throws {
        for words in [["base", ""], ["(base \"\")"], ["(prio >= 0)"]] {
            #expect(try Self.condition(words) == .all)
        }
    }

    /// Long filters are beyond the library: the bridge looks at all songs.
    @Test func longFilters() throws {
        let deep = String(repeating: "(!", count: 40) + "(artist == \"x\")" + String(repeating: ")", count: 40)
        #expect(try !Self.condition([deep]).isExact)
        #expect(try !Self.condition(["artist", String(repeating: "x", count: 2000)]).isExact)
    }

    @Test(arguments: [
        ("/srv/a/x", "a/x"), ("/mnt/b/y/z", "b/y/z"), ("/mnt/b", "b"), ("/srv/ab/x", "file:///srv/ab/x"),
    ])
    func namesOfSeveralFolders(_ path: String, _ name: String) {
        #expect(Self.two.name(of: "file://" + path) == Array(name.utf8))
        if !name.hasPrefix("file") { #expect(Self.two.placeURI(of: Array(name.utf8)) == path) }
    }

    /// Names that are not UTF-8 keep their bytes.
    @Test func oddNames() {
        let name: [UInt8] = Array("caf".utf8) + [0xE9]
        #expect(Self.names.name(of: "file:///srv/music/caf%E9") == name)
        #expect(Self.names.placeURI(of: name) == "file:///srv/music/caf%E9")
        for name in ["../x", "a/../b", "./a", "a/."] { #expect(Self.names.placeURI(of: Array(name.utf8)) == nil) }
    }
}

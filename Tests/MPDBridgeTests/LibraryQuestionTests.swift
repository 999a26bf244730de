import ControlProtocol
import LinuxSystem
import MPDProtocol
import TestSupport
import Testing

@testable import MPDBridge

/// Questions that the real library answers, in forms that cost much or are rare.
@Suite(.timeLimit(.minutes(5)), .serialized) struct LibraryQuestionTests {
    private let folder = TemporaryFolder()

    /// A house with so many songs, `00.flac` and on, each with these comments.
    private func house(songs: Int, comments: [String] = []) async -> MPDHouse {
        let music = folder.folder("music")
        var options = FLACOptions()
        options.blocks = [AudioMaterial.vorbisComments(comments.map { Array($0.utf8) })]
        let sound = AudioMaterial(
            sampleRate: 44_100, channels: 1, bits: 16, samples: Array(repeating: 0, count: 441))
        for number in 0..<songs {
            _ = folder.write(sound.flac(options), "music/\(number / 10)\(number % 10).flac")
        }
        return await MPDHouse.start(in: folder, music: (music, songs))
    }

    @Test("a list grouped by more tags than the library takes is complete, and costs the others nothing")
    func manyGroups() async throws {
        let house = await house(songs: 2, comments: ["ARTIST=A", "GENRE=G", "TITLE=T"])
        let client = try house.client()
        let few = ["album", "title", "genre", "date", "composer"]
        func ask(_ groups: [String]) throws -> [String] {
            try client.ask("list artist " + groups.map { "group \($0)" }.joined(separator: " "))
        }
        try #require(
            ask(few) == ["Composer: ", "Date: ", "Genre: G", "Title: T", "Album: ", "Artist: A", "OK"])
        let all = MPDTag.allCases.filter { $0 != .artist }.map(\.rawValue)
        let answer = try ask(all)
        #expect(answer.count == all.count + 2)
        #expect(answer.contains("AlbumArtistSort: A"))
        #expect(answer.suffix(2) == ["Artist: A", "OK"])
    }

    @Test(
        "a window behind the last song is empty, whether the library or the bridge judges the songs",
        arguments: ["(modified-since \\\"1970-01-02\\\")", "(file =~ \\\"flac\\\")"])
    func windowBehindTheEnd(filter: String) async throws {
        let house = await house(songs: 30)
        let client = try house.client()
        var files: [String] = []
        for start in stride(from: 0, to: 80, by: 20) {
            let answer = try client.ask("find \"\(filter)\" window \(start):\(start + 20)")
            #expect(answer.last == "OK")
            files += answer.filter { $0.hasPrefix("file: ") }
        }
        #expect(files == (0..<30).map { "file: \($0 / 10)\($0 % 10).flac" })
        #expect(try client.ask("find \"\(filter)\" window 29:31").count { $0.hasPrefix("file: ") } == 1)
    }

    @Test("a question whose pattern takes too many steps is refused, and the next one is answered")
    func complexPattern() async throws {
        let comments = (0..<20).map { "ARTIST=" + String(repeating: "a", count: 40) + "\($0)" }
        let house = await house(songs: 10, comments: comments)
        let client = try house.client()
        let pattern = "^(a+)+[bc]$"
        let refusal = "Error in regex: it takes too many steps: \(pattern)"
        for _ in 0..<2 {
            for verb in ["find", "count", "findadd"] {
                let answer = try client.ask("\(verb) \"(artist =~ \\\"\(pattern)\\\")\"")
                #expect(answer.last == "ACK [2@0] {\(verb)} \(refusal)")
            }
        }
        #expect(try client.ask("find \"(artist =~ \\\"^a+7$\\\")\"").count { $0.hasPrefix("file: ") } == 10)
        // The same for the songs of a list and of the queue.
        #expect(try client.ask("add \"\"") == ["OK"])
        #expect(try client.ask("save all") == ["OK"])
        for question in ["searchplaylist all", "playlistsearch", "playlistfind"] {
            let answer = try client.ask("\(question) \"(artist =~ \\\"\(pattern)\\\")\"")
            #expect(answer.last == "ACK [2@0] {\(question.split(separator: " ")[0])} \(refusal)")
            let next = try client.ask("\(question) \"(artist =~ \\\"^a+7$\\\")\"")
            #expect(next.count { $0.hasPrefix("file: ") } == 10)
        }
    }

    @Test("a question whose pattern takes long, but not too long, gives other clients their turns") func longPattern()
        async throws
    {
        // Each comparison takes thousands of steps, less than the limit.
        let comments = (0..<60).map { "ARTIST=" + String(repeating: "a", count: 24) + "\($0)" }
        let house = await house(songs: 100, comments: comments)
        let (slow, other) = (try house.client(), try house.client())
        #expect(try slow.ask("add \"\"") == ["OK"])
        #expect(try slow.ask("save all") == ["OK"])
        let filter = "\"(artist =~ \\\"^a*a*a*b$\\\")\""
        for question in ["find", "count", "searchplaylist all", "playlistfind"] {
            try slow.send("\(question) \(filter)")
            var turns = 0
            while !slow.isReadable {
                #expect(try other.ask("status").last == "OK")
                turns += 1
            }
            let answer = try slow.answer()
            #expect(answer.last == "OK", "\(question): \(answer)")
            // Two pages without turns for others would be over at the third one.
            #expect(turns > 3, "\(question)")
        }
    }

    @Test("numbers of stickers that do not fit are refused, and the bridge goes on") func largeStickers() async throws {
        let house = await house(songs: 1)
        let client = try house.client()
        let least = String(Int64.min)
        #expect(
            try client.ask("sticker dec Artist a b \(least)") == ["ACK [2@0] {sticker} Number too large: \(least)"])
        #expect(try client.ask("sticker set Artist a b -1") == ["OK"])
        #expect(try client.ask("sticker dec Artist a b \(least)") == ["OK"])
        #expect(try client.ask("sticker get Artist a b") == ["sticker: b=\(Int64.max)", "OK"])
        #expect(try client.ask("sticker inc Artist a b 1") == ["ACK [2@0] {sticker} Number too large: 1"])
        #expect(
            try client.ask("sticker dec song 00.flac rating \(least)")
                == ["ACK [2@0] {sticker} Number too large: \(least)"])
    }

    @Test("a song with thousands of values of each tag has a limited number of combinations") func manyValues() throws {
        let values: JSONValue = .array((0..<64).map { .string(String($0)) })
        let row: JSONValue = [
            "uri": "file:///a.flac",
            "tags": ["artist": values, "performer": values, "composer": values, "genre": values],
        ]
        let song = try #require(LibrarySong(row, SongNames()))
        let two = ValueTable.combinations([.artist, .genre], song)
        #expect(two.count == 4096 && two.last == ["63", "63"])
        let all = ValueTable.combinations([.artist, .performer, .composer, .genre, .album], song)
        #expect(all.count == 4096 && all.last == ["63", "63", "0", "0", ""])
    }

    @Test("a folder that is not there is a failure, as in MPD") func missingBase() async throws {
        let house = await house(songs: 2, comments: ["ARTIST=A"])
        let client = try house.client()
        let missing = #""(base \"x\")""#
        for line in [
            "find \(missing)", "search \(missing) window 0:1", "findadd \(missing)", "searchadd \(missing)",
            "searchaddpl l \(missing)", "count \(missing)", "count \(missing) group artist", "list artist \(missing)",
            "list file \(missing)", "find base x", "find base x artist A",
            #"find "((artist == \"A\") AND (base \"x\"))""#,
        ] {
            let word = line.prefix { $0 != " " }
            #expect(try client.ask(line) == ["ACK [50@0] {\(word)} No such directory"], "\(line)")
        }
        // Songs that are not below it are all of them.
        #expect(try client.ask(#"count "(!(base \"x\"))""#).first == "songs: 2")
        #expect(try client.ask(#"count "(base \"\")""#).first == "songs: 2")
        #expect(try client.ask("listplaylists") == ["OK"])
        #expect(try client.ask("playlistinfo") == ["OK"])
    }
}

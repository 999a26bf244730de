import AudioDecoders
import NowPlaying
import TestSupport
import Testing

@Suite struct PlaylistTests {
    /// Entries of a list, in a short form: `location|artist|title|seconds`.
    private static func short(_ kind: PlaylistKind, _ content: [UInt8]) throws -> [String] {
        try kind.entries(content).map { entry in
            let location = String(decoding: entry.location, as: UTF8.self)
            let fields = [location, entry.metadata.artist, entry.metadata.title, entry.duration.map { "\($0)" }]
            return fields.map { $0 ?? "" }.joined(separator: "|")
        }
    }

    @Test(
        arguments: [
            ("a.flac\nb.flac\n", ["a.flac|||", "b.flac|||"]),
            ("#EXTM3U\r\n#EXTINF:123,Artist - A Title\r\nx/y.flac\r\n\r\n", ["x/y.flac|Artist|A Title|123.0"]),
            ("#EXTINF:-1 tvg-id=\"a,b\" x=1,Name, and more\nhttp://h/s\n", ["http://h/s||Name, and more|"]),
            ("#EXTINF:12.5,T\n#a comment\na\nb", ["a||T|12.5", "b|||"]), ("#EXTINF:\"x,T\na", ["a||T|"]),
            ("\u{FEFF}é.flac", ["é.flac|||"]), ("a\rb\r", ["a|||", "b|||"]), (" \t a b \t\n", ["a b|||"]),
            ("#EXTINF:0, - \na", ["a||-|"]), ("#EXTINF:5\na", ["a|||5.0"]), ("", []), ("#EXTM3U\n#\n", []),
        ])
    func m3u(text: String, expected: [String]) throws {
        #expect(try Self.short(.m3u, Array(text.utf8)) == expected)
    }

    private static func utf16(_ text: String) -> [UInt8] {
        var result: [UInt8] = [0xFF, 0xFE]
        for unit in text.utf16 { result += [UInt8(unit & 255), UInt8(unit >> 8)] }
        return result
    }

    @Test func albumOfAWholeList() throws {
        let entries = try PlaylistKind.m3u.entries(Array("#EXTALB:The Album\n#EXTART:Band\na\nb".utf8))
        #expect(entries.map(\.metadata.albumTitle) == ["The Album", "The Album"])
        #expect(entries.map(\.metadata.albumArtist) == ["Band", "Band"])
    }

    @Test func piecesOfStreamsAreNoItems() {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:9,\nsegment1.ts\n"
        #expect(throws: PlaylistError.self) { try PlaylistKind.m3u8.entries(Array(text.utf8)) }
    }

    /// The same list in the encodings of thirty years.
    @Test func encodings() throws {
        let text = "#EXTINF:1,Café – “Ω”\nCafé Ω.flac\n"
        let expected = ["Café Ω.flac||Café – “Ω”|1.0"]
        let little = Self.utf16(text)
        var big = little
        for place in stride(from: 0, to: big.count, by: 2) { big.swapAt(place, place + 1) }
        for content in [Array(text.utf8), [0xEF, 0xBB, 0xBF] + Array(text.utf8), little, big] {
            #expect(try Self.short(.m3u, content) == expected)
        }
        // Windows-1252: é is E9, “ is 93, – is 96. Titles become text, locations stay as they are.
        let old = Array("#EXTINF:1,Caf".utf8) + [0xE9, 0x20, 0x96, 0x20, 0x93] + Array("\nCaf".utf8) + [0xE9, 0x0A]
        let entry = try #require(try PlaylistKind.m3u.entries(old).first)
        #expect(entry.metadata.title == "Café – “")
        #expect(entry.location == Array("Caf".utf8) + [0xE9])
    }

    @Test(
        arguments: [
            (
                "[playlist]\nNumberOfEntries=2\nFile2=b\nTitle1=A - T\nFile1=a\nLength1=61\nLength2=-1\nVersion=2",
                ["a|A|T|61.0", "b|||"]
            ),
            ("[Playlist]\r\nFILE1 = x=y.flac\r\ntitle1=\r\n", ["x=y.flac|||"]),
            ("File=a\nFile1\nTitle3=x\nFilex=b", []),
            ("File1=a\nFile1=b\nFile99999999999=c\nFile10=ten\nFile9=nine", ["b|||", "nine|||", "ten|||"]),
        ])
    func pls(text: String, expected: [String]) throws {
        #expect(try Self.short(.pls, Array(text.utf8)) == expected)
    }

    private static func xspf(_ tracks: String, root: String = "playlist") -> [UInt8] {
        Array(
            #"<?xml version="1.0" encoding="UTF-8"?><\#(root) version="1" xmlns="http://xspf.org/ns/0/"><title>no</title>"#
                .utf8) + Array("<trackList>\(tracks)</trackList></\(root)>".utf8)
    }

    @Test(
        arguments: [
            (
                "<track><location>file:///a%20b.flac</location><creator>C</creator><title>T &amp; T</title>"
                    + "<duration>61500</duration></track>", ["file:///a%20b.flac|C|T & T|61.5"]
            ),
            ("<track><location>\n a.flac\n</location><location>b</location></track>", ["a.flac|||"]),
            ("<track><title>only</title></track><track/>", []),
            ("<track><extension><location>no</location></extension><location>x</location></track>", ["x|||"]),
            ("<track><title><![CDATA[<T>]]></title><location>é</location></track>", ["é||<T>|"]),
        ])
    func xspf(tracks: String, expected: [String]) throws {
        #expect(try Self.short(.xspf, Self.xspf(tracks)) == expected)
        // The same in UTF-16, and with a prefix for the names.
        let text = String(decoding: Self.xspf(tracks), as: UTF8.self).replacing("encoding=\"UTF-8\"", with: "")
        #expect(try Self.short(.xspf, Self.utf16(text)) == expected)
    }

    @Test func namesWithAPrefix() throws {
        let track = "<x:track><x:location>a</x:location></x:track>"
        let text = "<x:playlist xmlns:x='u'><x:trackList>\(track)</x:trackList></x:playlist>"
        #expect(try Self.short(.xspf, Array(text.utf8)) == ["a|||"])
    }

    @Test func hostileXML() throws {
        func message(_ content: [UInt8]) -> String {
            do throws(PlaylistError) {
                _ = try PlaylistKind.xspf.entries(content)
                return ""
            } catch { return error.message }
        }
        let laughs = (1...9).map { "<!ENTITY l\($0) \"\(String(repeating: "&l\($0 - 1);", count: 10))\">" }.joined()
        let billion = "<!DOCTYPE p [<!ENTITY l0 \"ha\">\(laughs)]><playlist><trackList><track><location>&l9;</location>"
        #expect(message(Array(billion.utf8)) == "defines XML entities, which playlists must not do")
        let outside = "<!DOCTYPE p [<!ENTITY x SYSTEM \"/etc/passwd\">]><playlist>&x;</playlist>"
        #expect(message(Array(outside.utf8)) == "defines XML entities, which playlists must not do")
        #expect(message(Array("<playlist><trackList>\n</playlist>".utf8)).hasSuffix("mismatched tag, line 2"))
        #expect(message(Self.xspf("", root: "html")) == "is XML, but not an XSPF list")
        for content in [[], Array("a.flac".utf8), Array("<playlist>&undefined;</playlist>".utf8), [0xFF, 0xFE, 0x3C]] {
            #expect(message(content).hasPrefix("is not well-formed XML: "))
        }
        // A hundred thousand elements inside each other are no more than their text.
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(message(Array(deep.utf8)).hasPrefix("is not well-formed XML: "))
        #expect(try PlaylistKind.xspf.entries(Self.xspf("<track><location>x</location></track>")).count == 1)
    }

    @Test(arguments: [
        ("a.M3U", PlaylistKind.m3u), ("x.m3u8", .m3u8), ("a.b.Pls", .pls), (".xspf", .xspf), ("c.CUE", .cue),
    ])
    func kindsByName(name: String, kind: PlaylistKind) {
        #expect(PlaylistKind(fileName: Array(name.utf8)[...]) == kind)
    }

    @Test(arguments: ["m3u", "a.m3u9", "a.flac", "", ".", "a.", "cue.txt"])
    func otherNames(name: String) { #expect(PlaylistKind(fileName: Array(name.utf8)[...]) == nil) }

    /// Any list: no crash, no more entries than lines or elements, texts that are valid and short.
    @Test(arguments: 0..<300) func garbage(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let words: [[UInt8]] =
            [
                "#EXTM3U\n", "#EXTINF:", "12,", "\"", "\r", "\n", ",", " - ", "a/b\\c", "File1=", "Title1=", "=",
                "[playlist]",
                "<playlist>", "<trackList>", "<track>", "<location>", "</location>", "</track>", "</trackList>",
                "</playlist>",
                "<![CDATA[", "]]>", "&amp;", "&#0;", "FILE \"", "\" WAVE\n", "TRACK 01 AUDIO\n", "INDEX 01 ",
                "00:01:02\n",
                "99999999999999999999", ":", "REM DATE 1999\n", "\u{FEFF}", "é",
            ].map { Array($0.utf8) } + [[0xFF, 0xFE], [0xFE, 0xFF], [0], [0x80], [0xE9], [0xF0, 0x9F]]
        var content: [UInt8] = []
        for _ in 0..<Int(random.next() % 200) { content += words[Int(random.next() % UInt64(words.count))] }
        for kind in PlaylistKind.allCases {
            let entries = (try? kind.entries(content)) ?? []
            #expect(entries.count <= content.count)
            for entry in entries {
                #expect(!entry.location.isEmpty)
                #expect((entry.metadata.title ?? "").utf8.count <= 4096)
                #expect(entry.duration ?? 1 > 0)
            }
        }
        guard let sheet = try? CueSheet(text: content) else { return }
        #expect(zip(sheet.tracks, sheet.tracks.dropFirst()).allSatisfy { $0.number < $1.number })
        for track in sheet.tracks { #expect(sheet.files.indices.contains(track.file)) }
    }
}

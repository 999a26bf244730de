import Glibc
import MPDProtocol
import TestSupport
import Testing

@testable import MPDBridge

/// Blocks of songs that the library writes and the bridge passes on.
@Suite(.timeLimit(.minutes(5)), .serialized) struct SongTextTests {
    private let folder = TemporaryFolder()

    private func write(_ name: String, _ comments: [String], in music: String = "music") {
        var options = FLACOptions()
        options.blocks = [AudioMaterial.vorbisComments(comments.map { Array($0.utf8) })]
        let sound = AudioMaterial(
            sampleRate: 44_100, channels: 1, bits: 16, samples: Array(repeating: 0, count: 441))
        let path = "\(music)/\(name)"
        folder.folder(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]))
        _ = folder.write(sound.flac(options), path)
    }

    /// A library with tags of every kind, hostile texts, and a playlist in a folder without songs of its own.
    private func fill() {
        let every = MPDTag.allCases.map { "\($0.rawValue.uppercased())=value of \($0.rawValue)" }
        write("a/one.flac", every + ["ARTIST=second", "TRACKNUMBER=3", "DISCNUMBER=2", "MOVEMENT=4"])
        write("a/b/two.flac", ["TITLE=two\nfile: forged.flac", "ARTIST=x\r\nOK", "GENRE=a", "GENRE=b"])
        write("a/b c/three ö.flac", [])
        write("a.flac", ["TITLE=top", "ALBUM=an album", "DATE=2001-02-03"])
        write("z/deep/er/four.flac", ["TITLE=four", "COMMENT=a comment"])
        _ = folder.write(Array("#EXTM3U\nfour.flac\n".utf8), "music/z/deep/list.m3u")
        _ = folder.write(Array("one.flac\n".utf8), "music/a/list.m3u")
    }

    @Test("the library's blocks are those that the bridge writes", arguments: [false, true])
    func sameBlocks(hasTwoFolders: Bool) async throws {
        fill()
        if hasTwoFolders { write("five.flac", ["TITLE=five"], in: "other") }
        let folders = folder.path("music") + (hasTwoFolders ? "\n \(folder.path("other"))" : "")
        let house = await MPDHouse.start(in: folder, music: (folders, hasTwoFolders ? 6 : 5))
        let client = try house.client()
        func blocks(_ request: String) throws -> [String] {
            try client.ask(request).filter { !$0.hasPrefix("directory: ") && !$0.hasPrefix("playlist: ") }
        }
        // The bridge judges the songs of a pattern itself, and writes them.
        let pattern = #"find "(file =~ \".\")""#
        for tags in ["all", "clear", "enable Title Track Artist", "disable Track"] {
            #expect(try client.ask("tagtypes \(tags)") == ["OK"])
            let written = try blocks(pattern)
            #expect(written.count { $0.hasPrefix("file: ") } == (hasTwoFolders ? 6 : 5))
            #expect(try blocks(#"find "(modified-since \"1970-01-02\")""#) == written)
        }
        #expect(try client.ask("tagtypes all") == ["OK"])
        let whole = try blocks(pattern)
        func songs(_ lines: [String]) -> [String] { lines.filter { !$0.hasPrefix("Last-Modified") } }
        // Folders and playlists have times, too, in lines that look the same.
        #expect(try songs(blocks("listallinfo")) == songs(whole))
        #expect(try blocks("listall") == whole.filter { $0.hasPrefix("file: ") || $0 == "OK" })
        // Windows pass some pages and begin within others.
        for window in ["0:1", "2:4", "3:100", "5:9", "100:200"] {
            #expect(
                try blocks(#"find "(modified-since \"1970-01-02\")" window \#(window)"#)
                    == blocks("\(pattern) window \(window)"))
        }
        for sort in ["Title", "-Title", "Date", "-Last-Modified", "Artist"] {
            #expect(
                try blocks(#"find "(modified-since \"1970-01-02\")" sort \#(sort)"#)
                    == blocks("\(pattern) sort \(sort)"))
        }
    }

    @Test("folders and playlists stand around the songs of a tree") func trees() async throws {
        fill()
        let house = await MPDHouse.start(in: folder, music: (folder.path("music"), 5))
        let client = try house.client()
        let top = [
            "file: a.flac", "directory: a", "file: a/one.flac", "playlist: a/list.m3u", "directory: a/b",
            "file: a/b/two.flac", "directory: a/b c", "file: a/b c/three ö.flac", "directory: z", "directory: z/deep",
            "directory: z/deep/er", "file: z/deep/er/four.flac", "playlist: z/deep/list.m3u",
        ]
        #expect(try client.ask("listall") == top + ["OK"])
        let info = try client.ask("listallinfo").filter { line in
            ["file: ", "directory: ", "playlist: "].contains { line.hasPrefix($0) }
        }
        #expect(info == top)
        #expect(
            try client.ask("listall z") == [
                "directory: z", "directory: z/deep", "directory: z/deep/er", "file: z/deep/er/four.flac",
                "playlist: z/deep/list.m3u", "OK",
            ])
    }

    @Test func songsAreFoundInLines() {
        func names(_ text: String) -> [String] {
            SongLines(Array(text.utf8)).map { String(decoding: $0.name, as: UTF8.self) }
        }
        #expect(names("") == [])
        #expect(names("file: a\n") == ["a"])
        #expect(names("file: a\nTitle: file: b\nfile: c/d\nfile: \nTime: 1\n") == ["a", "c/d", ""])
        #expect(names("Title: a\nfile: b\n") == [])
    }
}

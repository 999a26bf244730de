import AudioCore
import AudioDecoders
import ControlProtocol
import Glibc
import LinuxSystem
import MediaAccess
import NowPlaying
import TestSupport
import Testing

/// Requests and playlists of which some media do not exist.
@Suite struct MissingMediaTests {
    let folder = TemporaryFolder()

    private func find(
        _ items: [JSONValue], isForeign: Bool = false, isStrict: Bool = false
    ) throws(RPCError) -> FoundMedia {
        let resolver = MediaResolver(
            roots: MediaRoots(isForeign ? [folder.path + "/music"] : []), isForeign: isForeign, limit: 100_000,
            descriptors: [], abandoned: AbandonFlag())
        var parameters = JSONObject([.init("items", .array(items))])
        if isStrict { parameters["strict"] = true }
        return try resolver.resolve(.other(.queueAdd), parameters)
    }

    private func names(_ found: FoundMedia) -> [String] {
        found.media.map { String($0.source.uri.dropFirst("file://\(folder.path)/music/".utf8.count)) }
    }

    private func missing(_ found: FoundMedia) -> [String] {
        found.missing.map { $0.uri.replacing(each: "file://\(folder.path)/music/", by: "") }
    }

    private static let samples: [(String, String)] = [
        ("x.m3u", "ok.wav\ngone.wav\nok2.wav\n"), ("x.m3u8", "#EXTM3U\r\nok.wav\r\n#EXTINF:1,G\r\ngone.wav\r\nok2.wav"),
        ("x.pls", "[playlist]\nFile1=ok.wav\nFile2=gone.wav\nFile3=ok2.wav\n"),
        (
            "x.xspf",
            "<playlist><trackList><track><location>ok.wav</location></track><track><location>gone.wav</location></track>"
                + "<track><location>ok2.wav</location></track></trackList></playlist>"
        ),
        (
            "x.cue",
            ["ok", "gone", "ok2"].enumerated().map {
                "FILE \"\($1).wav\" WAVE\nTRACK \($0 + 1) AUDIO\nINDEX 01 00:00:00\n"
            }.joined()
        ),
    ]

    @Test("a playlist plays without the entries that do not exist, and names them", arguments: samples)
    func lists(name: String, text: String) throws {
        for file in ["ok.wav", "ok2.wav"] { folder.file("music/" + file) }
        let list = JSONValue.string(folder.file("music/" + name, text))
        for isForeign in [false, true] {
            let found = try find([list], isForeign: isForeign)
            #expect(names(found) == ["ok.wav", "ok2.wav"])
            #expect(missing(found) == ["gone.wav"] && found.missingCount == 1)
            #expect(
                found.missing[0].encoded["reason"]
                    == .string("cannot be opened: no such file or directory (named in “\(name)”)"))
            #expect(throws: RPCError.self) { try find([list], isForeign: isForeign, isStrict: true) }
        }
        for file in ["ok.wav", "ok2.wav"] { unlink(folder.path + "/music/" + file) }
        do {
            _ = try find([list])
            Issue.record("a playlist without anything was taken")
        } catch {
            #expect(error.code == 100 && error.data["uris"]?.arrayValue?.count == 3)
        }
    }

    @Test("a request takes the items that exist, in order") func items() throws {
        let names = ["a.wav", "b.wav", "c.wav"]
        let files = names.map { folder.file("music/" + $0) }
        let items: [JSONValue] = [
            .string(files[2]), "/none/x.wav", .string(files[0]), "ftp://h/x", ["uri": .string(files[1]), "title": "T"],
        ]
        let found = try find(items)
        #expect(self.names(found) == ["c.wav", "a.wav", "b.wav"])
        #expect(found.missing.map(\.uri) == ["/none/x.wav", "ftp://h/x"])
        #expect(throws: RPCError.self) { try find(items, isStrict: true) }
    }

    @Test("a foreign user learns nothing about the files outside of the media roots") func foreign() throws {
        folder.file("music/ok.wav")
        let outside = folder.file("private/there.wav")
        symlink(outside, folder.path + "/music/link.wav")
        folder.file("private/sub/x.wav")
        let entries = [
            outside, folder.path + "/private/none.wav", "../private/there.wav", "../private/none.wav", "link.wav",
            "/etc/passwd", "/none/x.wav", "../private/SUB/X.WAV", "/none/",
        ]
        let text = "ok.wav\n" + entries.joined(separator: "\n")
        let found = try find([.string(folder.file("music/x.m3u", text))], isForeign: true)
        #expect(names(found) == ["ok.wav"])
        #expect(found.missingCount == entries.count)
        #expect(Set(found.missing.map { $0.encoded["reason"]?.stringValue }).count == 1)
        let shown = found.missing.map(\.uri)
        #expect(
            shown == [
                "there.wav", "none.wav", "there.wav", "none.wav", "link.wav", "passwd", "x.wav", "X.WAV", "none",
            ])
        // The request itself: what its client wrote comes back.
        let direct = try find([.string(folder.path + "/music/ok.wav"), .string(outside)], isForeign: true)
        #expect(direct.missing.map(\.uri) == [outside])
        do {
            _ = try find([.string(outside), .string(folder.path + "/music/none.wav")], isForeign: true)
            Issue.record("nothing was taken for something")
        } catch { #expect(error.code == 403) }
    }

    @Test("of many missing items a thousand are named and all are counted", arguments: [999, 1000, 1001, 9001])
    func many(count: Int) throws {
        folder.file("music/ok.wav")
        let text = (0..<count).map { "none \($0).wav\n" }.joined() + "ok.wav\n"
        let found = try find([.string(folder.file("music/x.m3u", text))])
        #expect(names(found) == ["ok.wav"])
        #expect(found.missingCount == count && found.missing.count == min(count, 1000))
        #expect(missing(found) == (0..<min(count, 1000)).map { "none%20\($0).wav" })
        let items = (0..<count).map { JSONValue.string("/none/\($0)") } + [.string(folder.path + "/music/ok.wav")]
        let listed = try find(items)
        #expect(
            listed.missingCount == count && listed.missing.map(\.uri) == (0..<min(count, 1000)).map { "/none/\($0)" })
    }
}

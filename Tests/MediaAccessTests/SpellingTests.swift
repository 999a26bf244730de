import AudioCore
import ControlProtocol
import Glibc
import LinuxSystem
import MediaAccess
import NowPlaying
import TestSupport
import Testing

/// Playlists and cue sheets whose names are not exactly those of the files.
@Suite struct SpellingTests {
    let folder = TemporaryFolder()

    private func find(_ name: String, isForeign: Bool = false) -> [String] {
        let resolver = MediaResolver(
            roots: MediaRoots(isForeign ? [folder.path] : []), isForeign: isForeign, limit: 1000, descriptors: [],
            abandoned: AbandonFlag())
        let parameters = JSONObject([.init("items", [.string(folder.path + "/" + name)])])
        do throws(RPCError) {
            return try resolver.resolve(.other(.queueAdd), parameters).media.map {
                String($0.source.uri.dropFirst("file://\(folder.path)/".utf8.count))
            }
        } catch { return [error.message] }
    }

    private static let composed = "Caf\u{E9} \u{DC}ber"
    private static let decomposed = "Cafe\u{301} U\u{308}ber"

    @Test("the exact name counts first, then the other normal form") func normalForms() {
        let encoded = (composed: "Caf%C3%A9%20%C3%9Cber", decomposed: "Cafe%CC%81%20U%CC%88ber")
        for (written, there) in [(Self.composed, Self.decomposed), (Self.decomposed, Self.composed)] {
            for path in ["", "\(written)/"] {
                let disk = path.isEmpty ? "" : there + "/"
                folder.file(disk + there + ".wav")
                folder.file("x.m3u8", "#EXTM3U\n\(path)\(written).wav\n")
                // Swift takes the two for equal.
                let isComposed = there.utf8.elementsEqual(Self.composed.utf8)
                let name = isComposed ? encoded.composed : encoded.decomposed
                for isForeign in [false, true] {
                    #expect(find("x.m3u8", isForeign: isForeign) == [(disk.isEmpty ? "" : name + "/") + name + ".wav"])
                }
                unlink(folder.path + "/" + disk + there + ".wav")
                if !disk.isEmpty { rmdir(folder.path + "/" + there) }
            }
        }
        folder.file(Self.composed + ".wav")
        folder.file(Self.decomposed + ".wav")
        folder.file("x.m3u8", "\(Self.composed).wav\n\(Self.decomposed).wav\n")
        #expect(find("x.m3u8") == [encoded.composed + ".wav", encoded.decomposed + ".wav"])
    }

    @Test("the case of letters counts only if one file is meant") func letters() {
        for name in ["ok.wav", "sub/Track One.wav", "x/1.wav", "X/1.wav"] { folder.file(name) }
        folder.file("case.m3u", "sub/track one.wav\r\nOK.WAV\r\nSUB\\TRACK%20ONE.WAV\n")
        folder.file("drive.m3u", "D:\\MUSIC\\SUB\\TRACK ONE.WAV\r\n")
        folder.file(
            "uri.xspf",
            "<playlist><trackList><track><location>file://\(folder.path)/SUB/track%20one.wav</location></track></trackList></playlist>"
        )
        for isForeign in [false, true] {
            #expect(
                find("case.m3u", isForeign: isForeign)
                    == ["sub/Track%20One.wav", "ok.wav", "sub/Track%20One.wav"])
            #expect(find("drive.m3u", isForeign: isForeign) == ["sub/Track%20One.wav"])
            #expect(find("uri.xspf", isForeign: isForeign) == ["sub/Track%20One.wav"])
        }
        // Exact folders are no doubt.
        folder.file("exact.m3u", "x/1.WAV\nX/1.WAV\n")
        #expect(find("exact.m3u") == ["x/1.wav", "X/1.wav"])
        folder.file("Ok.wav")
        folder.file("doubt.m3u", "OK.WAV\n")
        #expect(find("doubt.m3u")[0].contains("several files differ from this name in capital letters only"))
        folder.file("OK.WAV")
        #expect(find("doubt.m3u") == ["OK.WAV"])
    }

    @Test("a sheet finds its file in another spelling, and with another suffix") func sheets() {
        let tracks = "TRACK 01 AUDIO\nINDEX 01 00:00:00\nTRACK 02 AUDIO\nINDEX 01 00:02:00\n"
        for (name, written, there) in [
            ("1.cue", "cdimage.WAV", "CDImage.wav"), ("2.cue", "CDIMAGE2.WAV", "CDImage2.flac"),
            ("3.cue", Self.composed + ".wav", Self.decomposed + ".flac"), ("4.cue", "none.wav", "4.FLAC"),
        ] {
            folder.file("s/" + there)
            folder.file("s/" + name, "FILE \"\(written)\" WAVE\n" + tracks)
            #expect(find("s/" + name) == ["s/\(name)#track=1", "s/\(name)#track=2"], "\(written)")
            // In a folder, the sheet replaces the file.
            #expect(find("s") == ["s/\(name)#track=1", "s/\(name)#track=2"], "\(written)")
            for file in [name, there] { unlink(folder.path + "/s/" + file) }
        }
    }

    @Test("a long list of other spellings is found as fast as it is listed") func many() {
        for number in 0..<2000 { folder.file("many/Song \(number).wav") }
        folder.file("many.m3u", (0..<2000).map { "MANY/SONG \($0).WAV\n" }.joined())
        let resolver = MediaResolver(
            roots: MediaRoots([]), isForeign: false, limit: 10_000, descriptors: [], abandoned: AbandonFlag())
        let found = try? resolver.resolve(
            .other(.queueAdd), JSONObject([.init("items", [.string(folder.path + "/many.m3u")])]))
        #expect(found?.media.count == 2000 && found?.missingCount == 0)
    }
}

import AudioCore
import ControlProtocol
import Glibc
import LinuxSystem
import MediaAccess
import NowPlaying
import PlaybackEngine
import TestSupport
import Testing

/// Cue sheets on a disk, as requests name them and in folders.
@Suite struct CueMediaTests {
    let folder = TemporaryFolder()

    private func media(_ items: [JSONValue], isForeign: Bool = false) throws -> [ResolvedMedia] {
        let resolver = MediaResolver(
            roots: MediaRoots(isForeign ? [folder.path] : []), isForeign: isForeign, limit: 1000, descriptors: [],
            abandoned: AbandonFlag())
        let parameters = JSONObject([.init("items", .array(items)), .init("strict", true)])
        return try resolver.resolve(.other(.queueAdd), parameters).media
    }

    private func uris(_ items: [JSONValue], isForeign: Bool = false) throws -> [String] {
        try media(items, isForeign: isForeign).map {
            String($0.source.uri.dropFirst("file://\(folder.path)/".utf8.count))
        }
    }

    private func sheet(_ file: String, tracks: Int = 3) -> String {
        "TITLE Album\nPERFORMER Band\nFILE \"\(file)\" WAVE\n"
            + (1...tracks).map { "TRACK \($0) AUDIO\nTITLE T\($0)\nINDEX 01 \($0 - 1):00:00\n" }.joined()
    }

    @Test func tracksAreParts() throws {
        let audio = folder.file("album.flac")
        let cue = folder.file("album.cue", sheet("album.flac"))
        for isForeign in [false, true] {
            let found = try media([.string(cue)], isForeign: isForeign)
            #expect(found.map(\.details?.metadata.title) == ["T1", "T2", "T3"])
            #expect(found.map(\.details?.metadata.artist) == ["Band", "Band", "Band"])
            #expect(found.map(\.details?.duration) == [60, 60, nil])
            let parts: [MediaSegment] = found.compactMap {
                if case .segment(let part) = $0.source { part } else { nil }
            }
            #expect(parts.map(\.audio.uri) == Array(repeating: "file://" + audio, count: 3))
            #expect(parts.map(\.start.count) == [0, 4500, 9000])
            #expect(parts.map(\.end?.count) == [4500, 9000, nil])
            // Published uris lead back to the same items.
            let again = try media(found.map { .string($0.source.uri) }, isForeign: isForeign)
            #expect(again.map(\.source.uri) == ["1", "2", "3"].map { "file://\(cue)#track=\($0)" })
            #expect(again.map(\.details?.metadata) == found.map(\.details?.metadata))
            #expect(again.map(\.details?.duration) == found.map(\.details?.duration))
        }
        // The client's metadata count more.
        let named = try media([["uri": .string("file://\(cue)#track=2"), "title": "Mine"]])
        #expect(named[0].details?.metadata.title == "Mine")
        #expect(named[0].details?.metadata.albumTitle == "Album")
    }

    @Test func tracksThatAreNotThere() throws {
        folder.file("album.flac")
        folder.file("100#track=.flac")
        let cue = folder.file("album.cue", sheet("album.flac"))
        for uri in ["file://\(cue)#track=4", "file://\(cue)#track=0", "file://\(folder.path)/album.flac#track=1"] {
            #expect(throws: RPCError.self) { try media([.string(uri)]) }
        }
        // A name with such letters is one, where no number follows or it is a path.
        #expect(try uris([.string("file://\(folder.path)/100#track=.flac")]) == ["100%23track%3D.flac"])
        let odd = folder.file("a.cue#track=1")
        #expect(try uris([.string(odd)]) == ["a.cue%23track%3D1"])
    }

    @Test(
        arguments: [
            ("album.wav", ["album.flac"], "album.flac"), ("D:\\rips\\album.wav", ["album.flac"], "album.flac"),
            ("cdimage.wav", ["x.FLAC", "other.flac"], "x.FLAC"),
            ("album.flac", ["ALBUM.flac", "album.wav"], "album.wav"),
        ])
    func filesThatWereCompressedLater(written: String, there: [String], found: String) throws {
        for name in there { folder.file(name) }
        let parts = try media([.string(folder.file("x.cue", sheet(written)))])
        guard case .segment(let part) = parts[0].source else {
            Issue.record("no part")
            return
        }
        #expect(part.audio.uri == "file://\(folder.path)/\(found)")
    }

    @Test func missingFilesAreNamed() {
        let cue = folder.file("x.cue", sheet("gone.wav"))
        do {
            _ = try media([.string(cue)])
            Issue.record("taken")
        } catch let error as RPCError {
            #expect(error.code == 100)
            #expect(error.data["uris"] == [.string("file://\(folder.path)/gone.wav")])
        } catch { Issue.record(error) }
    }

    @Test func foldersOfAlbums() throws {
        // An image with its sheet, a sheet for single files, lists beside them: nothing plays twice.
        folder.file("1/album.flac")
        folder.file("1/album.cue", sheet("album.wav", tracks: 2))
        folder.file("1/album.m3u", "album.flac\n")
        folder.file("1/album (other).cue", sheet("album.flac", tracks: 3))
        folder.file("2/1.flac")
        folder.file("2/2.flac")
        folder.file(
            "2/all.cue",
            "FILE 1.flac WAVE\nTRACK 1 AUDIO\nINDEX 01 0:0:0\nFILE 2.flac WAVE\nTRACK 2 AUDIO\n"
                + "INDEX 01 0:0:0")
        folder.file("2/all.m3u8", "1.flac\n2.flac\n")
        folder.file("3/broken.cue", "FILE")
        folder.file("3/a.wav")
        #expect(
            try uris([.string(folder.path)]) == [
                "1/album.cue#track=1", "1/album.cue#track=2", "2/1.flac", "2/2.flac", "3/a.wav",
            ])
        #expect(
            try uris([.string(folder.path + "/2/all.cue")], isForeign: true) == ["2/1.flac", "2/2.flac"])
    }

    @Test func twoImagesInAFolder() throws {
        folder.file("cd1.flac")
        folder.file("cd2.flac")
        folder.file("cd10.flac")
        folder.file("both.cue", sheet("cd1.flac", tracks: 2) + sheet("cd2.flac", tracks: 2))
        #expect(
            try uris([.string(folder.path)]) == [
                "both.cue#track=1", "both.cue#track=2", "both.cue#track=3", "both.cue#track=4", "cd10.flac",
            ])
    }
}

import AudioCore
import ControlProtocol
import Glibc
import LinuxSystem
import MediaAccess
import NowPlaying
import PlaybackEngine
import TestSupport
import Testing

/// Lists on a disk, as requests name them.
@Suite struct PlaylistMediaTests {
    let folder = TemporaryFolder()

    /// Result for the items: their uris relative to the folder, or the code of the refusal.
    private func uris(
        _ items: [JSONValue], roots: [String] = [], isForeign: Bool = false, limit: Int = 100_000
    ) -> [String] {
        switch resolve(items, roots: roots, isForeign: isForeign, limit: limit) {
        case .success(let media): media.map { String($0.source.uri.dropFirst("file://\(folder.path)/".utf8.count)) }
        case .failure(let error): ["\(error.code)" + (error.reason.map { " " + $0.rawValue } ?? "")]
        }
    }

    private func resolve(
        _ items: [JSONValue], roots: [String] = [], isForeign: Bool = false, limit: Int = 100_000
    ) -> Result<[ResolvedMedia], RPCError> {
        let resolver = MediaResolver(
            roots: MediaRoots(roots), isForeign: isForeign, limit: limit, descriptors: [], abandoned: AbandonFlag())
        do throws(RPCError) {
            return .success(
                try resolver.resolve(
                    .other(.queueAdd), JSONObject([.init("items", .array(items)), .init("strict", true)])
                ).media)
        } catch {
            return .failure(error)
        }
    }

    private func list(_ name: String, _ text: String) -> JSONValue { .string(folder.file(name, text)) }

    @Test("the playlists of a request have 16 MiB at most") func bytes() {
        folder.file("a.flac")
        let filler = String(repeating: "#" + String(repeating: "x", count: 65_534) + "\n", count: 16)
        let large = list("large.m3u", "a.flac\n" + String(repeating: filler, count: 15))
        let rest = list("rest.m3u", "a.flac\n" + filler.dropLast(65_536))
        #expect(uris([large, rest]) == ["a.flac", "a.flac"])
        let more = list("more.m3u", filler + "a.flac\n")
        #expect(uris([large, more]) == ["200 tooLarge"])
        #expect(uris([more]) == ["a.flac"])
    }

    @Test(
        arguments: [
            ("a.flac", "a.flac"), ("sub/b.flac", "sub/b.flac"), ("./sub//b.flac", "sub/b.flac"),
            ("sub/../a.flac", "a.flac"), ("sub\\b.flac", "sub/b.flac"), ("with%20space.flac", "with%20space.flac"),
            ("with space.flac", "with%20space.flac"), ("100%.flac", "100%25.flac"), ("a%41.flac", "a%2541.flac"),
            ("C:\\Users\\me\\Music\\sub\\b.flac", "sub/b.flac"), ("\\\\nas\\music\\a.flac", "a.flac"),
            ("D:/Music/a.flac", "a.flac"), ("Artist: Song.flac", "Artist%3A%20Song.flac"),
            ("back\\slash", "back%5Cslash"),
            ("sub", "sub/b.flac"),
        ])
    func locations(entry: String, uri: String) {
        for name in ["a.flac", "sub/b.flac", "with space.flac", "100%.flac", "a%41.flac", "Artist: Song.flac"] {
            folder.file(name)
        }
        folder.file("back\\slash")
        #expect(uris([list("x.m3u", entry + "\n")]) == [uri])
        #expect(uris([list("x.pls", "[playlist]\nFile1=\(entry)\n")]) == [uri])
    }

    @Test(
        "a long list keeps its order; a list and a folder that it names often come once", arguments: [255, 256, 9001])
    func longList(count: Int) {
        for name in ["a.flac", "sub/b.flac", "c.flac"] { folder.file(name) }
        folder.file("inner.m3u", "c.flac\n")
        let names = ["a.flac", "sub/b.flac", "inner.m3u", "./a.flac", "sub"]
        let entries = (0..<count).map { names[$0 % names.count] }
        var wanted: [String] = []
        for (index, name) in entries.enumerated() {
            switch name {
            case "inner.m3u": if index < names.count { wanted.append("c.flac") }
            case "sub": if index < names.count { wanted.append("sub/b.flac") }
            case "./a.flac": wanted.append("a.flac")
            default: wanted.append(name)
            }
        }
        let text = entries.joined(separator: "\n")
        #expect(uris([list("long.m3u8", text)]) == wanted)
        #expect(uris([list("long.m3u8", text)], limit: wanted.count) == wanted)
        #expect(uris([list("long.m3u8", text)], limit: wanted.count - 1) == ["200 tooMany"])
        #expect(uris([list("long.m3u8", text)], roots: [folder.path], isForeign: true) == wanted)
    }

    @Test("each missing item of a long list is named, in order") func missingOfLongList() {
        folder.file("a.flac")
        let entries = (0..<600).map { $0 % 200 == 150 ? "none \($0).flac" : "a.flac" }
        guard case .failure(let error) = resolve([list("long.m3u8", entries.joined(separator: "\r\n"))]) else {
            Issue.record("it was taken")
            return
        }
        let wanted = [150, 350, 550].map { JSONValue.string("file://\(folder.path)/none%20\($0).flac") }
        #expect(error.data["uris"] == .array(wanted))
    }

    @Test func absoluteLocations() {
        let path = folder.file("lists and more/a b.flac")
        for entry in [path, "file://" + path, "file://localhost" + path.replacing(" ", with: "%20"), "FILE:" + path] {
            #expect(uris([list("x.m3u", entry)]) == ["lists%20and%20more/a%20b.flac"])
        }
        let reference = path.replacing(" ", with: "%20")
        for location in ["file://\(reference)", "lists%20and%20more/a%20b.flac", reference] {
            let text = "<playlist><trackList><track><location>\(location)</location></track></trackList></playlist>"
            #expect(uris([list("x.xspf", text)]) == ["lists%20and%20more/a%20b.flac"])
        }
    }

    /// A list in Windows-1252 names files by bytes of that, or files that were renamed to UTF-8 since.
    @Test func namesInOldEncodings() throws {
        let parent: FilePath = "\(folder.path)"
        let old = parent.appending(try #require(FilePath(Array("caf".utf8) + [0xE9] + Array(".flac".utf8))))
        let list = parent.appending("x.m3u")
        list.withCString { path in
            let file = fopen(path, "w")!
            fwrite([0x63, 0x61, 0x66, 0xE9] + Array(".flac\n".utf8), 1, 10, file)
            fclose(file)
        }
        #expect(uris([.string(list.text)]) == ["100"])
        folder.file("café.flac")
        #expect(uris([.string(list.text)]) == ["caf%C3%A9.flac"])
        old.withCString { _ = fclose(fopen($0, "w")!) }
        #expect(uris([.string(list.text)]) == ["caf%E9.flac"])
    }

    @Test func streamsAreEntriesToo() throws {
        let item = list(
            "radio.pls", "[playlist]\nFile1=https://example.org/stream?a=b\nTitle1=Some Radio\nLength1=-1\n")
        let media = try resolve([item]).get()
        #expect(media.map(\.source.uri) == ["https://example.org/stream?a=b"])
        #expect(media[0].details?.metadata.title == "Some Radio")
    }

    @Test func whatAListSaysIsAHint() throws {
        folder.file("a.flac")
        let item = list("x.m3u", "#EXTINF:61,Band - Song\na.flac\n")
        let plain = try #require(try resolve([item]).get().first?.details)
        #expect(plain.given == MediaMetadata())
        #expect(plain.metadata.title == "Song")
        #expect(plain.metadata.artist == "Band")
        #expect(plain.duration == 61)
        let named = try resolve([["uri": item, "artist": "Mine"]]).get().first?.details?.metadata
        #expect(named?.artist == "Mine")
        #expect(named?.title == "Song")
    }

    @Test func nestedListsAndLoops() {
        folder.file("a.flac")
        folder.file("f/b.flac")
        _ = list("1.m3u", "a.flac\n2.pls\nf\nf\na.flac\n")
        _ = list("2.pls", "File1=1.m3u\nFile2=a.flac\nFile3=3.xspf\n")
        _ = list("3.xspf", "<playlist><trackList><track><location>2.pls</location></track></trackList></playlist>")
        // Lists and folders are read once, but a song may come twice.
        #expect(uris([.string(folder.path + "/1.m3u")]) == ["a.flac", "a.flac", "f/b.flac", "a.flac"])
        for level in 1...9 { _ = list("l\(level).m3u", "l\(level + 1).m3u\n") }
        _ = list("l9.m3u", "a.flac")
        #expect(uris([.string(folder.path + "/l1.m3u")]) == ["200 tooDeep"])
        #expect(uris([.string(folder.path + "/l2.m3u")]) == ["a.flac"])
        // Each list names all others: as many readings as lists.
        for number in 0..<40 {
            _ = list("w\(number).m3u", (0..<40).map { "w\($0).m3u\n" }.joined() + "a.flac\n")
        }
        #expect(uris([.string(folder.path + "/w0.m3u")]).contains("200 tooDeep"))
    }

    @Test func stationsInLists() throws {
        let list = list("radio.m3u", "#EXTM3U\n#EXTINF:-1,Radio One\nhttp://me:secret@example.org/one\n")
        let media = try resolve([list]).get()
        #expect(media.map(\.source.uri) == ["http://example.org/one"])
        #expect(media.first?.details?.metadata.title == "Radio One")
        guard case .remote(let remote)? = media.first?.source else {
            Issue.record("it is no stream")
            return
        }
        #expect(remote.address == "http://me:secret@example.org/one")
    }

    @Test func allOrNothing() throws {
        folder.file("a.flac")
        mkfifo(folder.path + "/fifo", 0o644)
        for entry in ["missing.flac", "fifo", "/dev/zero", "ftp://example.org/x", "other.m3u", "a\0b", "file://h/a"] {
            let error = resolve([list("x.m3u", "a.flac\n\(entry)\n")])
            guard case .failure(let refusal) = error else {
                Issue.record("\(entry) was taken")
                continue
            }
            #expect(refusal.code == 100)
            #expect(refusal.message.contains("named in “x.m3u”"), "\(refusal.message)")
        }
        let error = resolve([list("x.m3u", "1.flac\n2.flac\na.flac\n"), .string(folder.path + "/a.flac")])
        guard case .failure(let refusal) = error else {
            Issue.record("taken")
            return
        }
        #expect(refusal.data["uris"]?.arrayValue?.count == 2)
        for (name, text) in [("x.m3u", "#only\n"), ("x.pls", ""), ("x.xspf", "<a/>"), ("x.cue", "TITLE x\n")] {
            #expect(uris([list(name, text)]) == ["100"])
        }
        #expect(uris([list("y.m3u", "a.flac\na.flac\n")], limit: 1) == ["200 tooMany"])
    }

    @Test func textIsBounded() {
        folder.file("a.flac")
        let small = list("small.m3u", "#" + String(repeating: "x", count: 10_000) + "\na.flac\n")
        #expect(uris([small, small]) == ["a.flac", "a.flac"])
        // The limit counts all lists of a request together.
        for (size, items) in [(1 << 40, 0), (16 << 20 + 1, 0), (16 << 20 - 20_000, 2)] {
            let path = folder.path + "/large.m3u"
            let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
            ftruncate(file, off_t(size))
            close(file)
            #expect(uris(Array(repeating: small, count: items) + [.string(path)]) == ["200 tooLarge"])
        }
    }

    @Test func foreignersStayBelowTheRoots() {
        folder.file("private/c.flac")
        folder.file("music/a.flac")
        symlink("../private/c.flac", folder.path + "/music/link.flac")
        symlink("../private", folder.path + "/music/linked")
        let roots = [folder.path + "/music"]
        func codes(_ name: String, _ text: String) -> [String] {
            uris([list("music/" + name, text)], roots: roots, isForeign: true)
        }
        #expect(codes("x.m3u", "a.flac\n../music/a.flac\n") == ["403"])
        #expect(codes("x.m3u", "a.flac\nsub/../a.flac\n") == ["100"])
        for entry in [
            "../private/c.flac", "../private/missing.flac", "/etc/passwd", "/nonexistent", "link.flac", "linked/c.flac",
            "file:///etc/shadow", "linked", "..", "..\\private\\c.flac", "%2e%2e/private/c.flac",
        ] {
            #expect(codes("x.m3u", "a.flac\n\(entry)\n") == ["403"], "\(entry)")
            #expect(codes("x.pls", "File1=\(entry)\n") == ["403"], "\(entry)")
            #expect(
                codes(
                    "x.xspf", "<playlist><trackList><track><location>\(entry)</location></track></trackList></playlist>"
                )
                    == ["403"], "\(entry)")
            #expect(codes("x.cue", "FILE \"\(entry)\" WAVE\nTRACK 01 AUDIO\nINDEX 01 0:1:0\n") == ["403"], "\(entry)")
        }
        #expect(codes("x.m3u", "missing.flac\n") == ["100"])
        // A list outside is none of theirs, nor is a folder of which a sheet leads out.
        #expect(uris([list("private/x.m3u", "c.flac\n")], roots: roots, isForeign: true) == ["403"])
        unlink(folder.path + "/music/x.cue")
        _ = list(
            "music/y.cue",
            "FILE \"../private/c.flac\" WAVE\nTRACK 01 AUDIO\nINDEX 01 0:1:0\nTRACK 02 AUDIO\nINDEX 01 0:2:0")
        #expect(uris([.string(roots[0])], roots: roots, isForeign: true) == ["music/a.flac"])
    }
}

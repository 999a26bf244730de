import AudioCore
import ControlProtocol
import Glibc
import LinuxSystem
import MediaAccess
import NowPlaying
import PlaybackEngine
import TestSupport
import Testing

@Suite struct MediaTests {
    private static func resolve(
        _ items: [JSONValue], roots: [String] = [], isForeign: Bool = false, limit: Int = 1_000_000,
        descriptors: [OwnedDescriptor] = []
    ) -> Result<[ResolvedMedia], RPCError> {
        let resolver = MediaResolver(
            roots: MediaRoots(roots), isForeign: isForeign, limit: limit, descriptors: descriptors,
            abandoned: AbandonFlag())
        do throws(RPCError) {
            return .success(
                try resolver.resolve(
                    .other(.queueAdd), JSONObject([.init("items", .array(items)), .init("strict", true)])
                ).media)
        } catch {
            return .failure(error)
        }
    }

    private static func names(_ result: Result<[ResolvedMedia], RPCError>) throws -> [String] {
        try result.get().map { media in
            switch media.source {
            case .plain(let path): path.path.text
            case .confined(let place): place.path.text
            default: media.source.uri
            }
        }
    }

    private static func refusal(_ result: Result<[ResolvedMedia], RPCError>) -> RPCError? {
        if case .failure(let error) = result { error } else { nil }
    }

    @Test(
        arguments: [
            ("/music/a b%20.flac", .path("/music/a b%20.flac")), ("file:///music/a%20b.flac", .path("/music/a b.flac")),
            ("FILE://localhost/a", .path("/a")), ("file:/a", .path("/a")), ("file:///%C3%A9", .path("/é")),
            ("file://elsewhere/a", .unplayable("is on another host")),
            ("file:///%zz", .unplayable("has an invalid percent encoding")),
            ("file:///%f", .unplayable("has an invalid percent encoding")),
            ("file:///caf%E9%ff", .path(FilePath(Array("/caf".utf8) + [0xE9, 0xFF])!)),
            ("file:///a%00b", .unplayable("has a zero byte in its path")),
            ("/a\0b", .unplayable("has a zero byte in its path")), ("file:a", .unplayable("has no absolute path")),
            ("a.flac", .unplayable("is neither an absolute path nor a uri")),
            ("https://example.org/", .remote(address: "https://example.org/", shown: "https://example.org/")),
            (
                "HTTP://me:s3cret@example.org:8000/live?x=@y",
                .remote(
                    address: "HTTP://me:s3cret@example.org:8000/live?x=@y", shown: "HTTP://example.org:8000/live?x=@y")
            ),
            ("http://a@b@c", .remote(address: "http://a@b@c", shown: "http://c")),
            ("http:///live", .unplayable("names no host")), ("http:live", .unplayable("names no host")),
            ("http://me:secret@/live", .unplayable("names no host")),
            ("http://a/b c", .unplayable("has spaces or control characters in it: write them as %20")),
            ("ftp://example.org/", .unplayable("is neither an absolute path nor a uri of file, http or https")),
        ] as [(String, MediaAddress)])
    func addresses(_ uri: String, _ expected: MediaAddress) {
        #expect(MediaAddress(uri) == expected)
    }

    @Test func naturalOrder() {
        let sorted = [
            "", "1.flac", "01.flac", "2.flac", "10.flac", "010.flac", "A 2", "a 10", "b", "B", "b1", "b1a", "b01b", "é",
        ]
        func precedes(_ a: String, _ b: String) -> Bool { NaturalOrder.precedes(Array(a.utf8), Array(b.utf8)) }
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20 {
            let result = sorted.shuffled(using: &generator).sorted(by: precedes)
            #expect(
                result.map { $0.lowercased().filter { $0 != "0" } }
                    == sorted.map { $0.lowercased().filter { $0 != "0" } })
        }
        for a in sorted {
            #expect(!precedes(a, a))
            for b in sorted where a != b { #expect(precedes(a, b) != precedes(b, a)) }
        }
    }

    @Test func foldersBecomeTheirFilesInNaturalOrder() throws {
        let folder = TemporaryFolder()
        for name in [
            "10.flac", "2.WAV", "1.txt", ".hidden.flac", ".git/x.flac", "disc 2/1.aiff", "disc 10/1.au", "3.caf/4.snd",
            "noending",
        ] { folder.file(name) }
        mkfifo(folder.path + "/5.flac", 0o644)
        symlink(folder.path, folder.path + "/loop")
        symlink("10.flac", folder.path + "/11.flac")
        symlink("missing", folder.path + "/12.flac")
        let expected = ["2.WAV", "3.caf/4.snd", "10.flac", "11.flac", "disc 2/1.aiff", "disc 10/1.au"]
        for path in [folder.path, folder.path + "/", "file://" + folder.path] {
            let found = try Self.names(Self.resolve([.string(path)]))
            #expect(found.map { String($0.dropFirst(folder.path.count + 1)) } == expected)
        }
        // The same below a media root, where links may not lead out.
        symlink("/etc", folder.path + "/outside")
        let below = try Self.names(Self.resolve([.string(folder.path)], roots: [folder.path], isForeign: true))
        #expect(below.map { String($0.dropFirst(folder.path.count + 1)) } == expected)
    }

    @Test func namesAreBytes() throws {
        let folder = TemporaryFolder()
        let parent: FilePath = "\(folder.path)"
        let names = [Array("1 caf".utf8) + [0xE9] + Array(".flac".utf8), [0x32, 0xFF] + Array(".WAV".utf8)]
        // Files of these names, and a folder of such a name with the same in it.
        let inner = try #require(FilePath(names[0] + Array("s".utf8)))
        for place in [parent, parent.appending(inner)] {
            _ = place.withCString { mkdir($0, 0o755) }
            for name in names {
                let path = place.appending(try #require(FilePath(name)))
                path.withCString { _ = fclose(fopen($0, "w")!) }
            }
        }
        for (isForeign, roots) in [(false, []), (true, [folder.path])] {
            let found = try Self.resolve([.string(folder.path)], roots: roots, isForeign: isForeign).get()
            let uris = found.map { String($0.source.uri.dropFirst(folder.path.utf8.count + 8)) }
            #expect(
                uris == [
                    "1%20caf%E9.flac", "1%20caf%E9.flacs/1%20caf%E9.flac", "1%20caf%E9.flacs/2%FF.WAV", "2%FF.WAV",
                ])
            #expect(found[0].source.displayName == "1 café")
            // Published uris lead back to the same files.
            for media in found {
                let again = try Self.resolve([.string(media.source.uri)], roots: roots, isForeign: isForeign).get()
                #expect(again.map(\.source.uri) == [media.source.uri])
                guard case .plain(let path) = again[0].source else { continue }
                #expect(path.path.withCString { access($0, F_OK) } == 0)
            }
        }
        let missing = Self.refusal(Self.resolve(["file:///none%FF"]))
        #expect(missing?.data["uris"] == ["file:///none%FF"])
    }

    @Test func allOrNothing() throws {
        let folder = TemporaryFolder()
        let good = folder.file("a.txt")
        #expect(try Self.names(Self.resolve([.string(good), ["uri": .string(good)]])) == [good, good])
        let error = try #require(
            Self.refusal(
                Self.resolve([
                    .string(good), "/nonexistent/1", .string(folder.folder("empty")), ["uri": "ftp://example.org"],
                    "/dev/null",
                ])))
        #expect(error.code == 100)
        #expect(
            error.data["uris"] == [
                "/nonexistent/1", .string(folder.path + "/empty"), "ftp://example.org", "/dev/null",
            ])
    }

    @Test func fieldsComeAlong() throws {
        let folder = TemporaryFolder()
        let file = folder.file("a.flac")
        let media = try Self.resolve([
            ["uri": .string(file), "title": "T", "artists": ["x"], "trackNumber": 3, "isLiveStream": true],
            .string(file),
        ]).get()
        #expect(media[0].details?.given.title == "T")
        #expect(media[0].details?.given.artists == ["x"])
        #expect(media[0].details?.given.trackNumber == 3)
        #expect(media[0].details?.given.isLiveStream == true)
        #expect(media[1].details == nil)
    }

    @Test func theQueueIsBounded() throws {
        let folder = TemporaryFolder()
        for number in 0..<5 { folder.file("\(number).flac") }
        #expect(try Self.names(Self.resolve([.string(folder.path)], limit: 5)).count == 5)
        #expect(Self.refusal(Self.resolve([.string(folder.path)], limit: 4))?.code == 200)
        let one = JSONValue.string(folder.path + "/1.flac")
        #expect(Self.refusal(Self.resolve([one, one, one], limit: 2))?.code == 200)
    }

    @Test func foreignersStayBelowTheRoots() throws {
        let folder = TemporaryFolder()
        let inside = folder.file("music/a/b.flac")
        let outside = folder.file("private/c.flac")
        symlink("../../private/c.flac", folder.path + "/music/a/link.flac")
        symlink("b.flac", folder.path + "/music/a/good.flac")
        let root = folder.path + "/music"
        func resolve(_ path: String) -> Result<[ResolvedMedia], RPCError> {
            Self.resolve([.string(path)], roots: ["/srv/none", root + "/"], isForeign: true)
        }
        #expect(try Self.names(resolve(inside)) == [inside])
        #expect(try Self.names(resolve(root + "/a/good.flac")).count == 1)
        #expect(try Self.names(resolve(root)).count == 2)
        #expect(Self.refusal(resolve(root + "/missing.flac"))?.code == 100)
        for path in [
            outside, folder.path + "/private/missing", root + "/../private/c.flac", root + "/a/link.flac",
            root + "/a/../../private/missing", "/etc/passwd", "/nonexistent", root + "x/a",
            "/proc/self/root/etc/passwd",
        ] {
            let error = try #require(Self.refusal(resolve(path)))
            #expect(error.code == 403, "\(path)")
            #expect(error.data["uris"] == nil)
        }
        // One of them fails the request, and the answer does not mention the others.
        let error = Self.refusal(
            Self.resolve(["/etc/passwd", .string(root + "/missing")], roots: [root], isForeign: true))
        #expect(error?.code == 403)
    }

    @Test func whatIsBelowAnUnmountedRootIsAccepted() throws {
        let folder = TemporaryFolder()
        let empty = folder.folder("stick")
        let full = folder.file("full/a.flac")
        let roots = [empty, folder.path + "/gone", folder.path + "/full"]
        for isForeign in [false, true] {
            func code(_ path: String) -> Int? {
                Self.refusal(Self.resolve([.string(path)], roots: roots, isForeign: isForeign))?.code
            }
            #expect(code(empty + "/album/1.flac") == nil)
            #expect(code(folder.path + "/gone/1.flac") == nil)
            #expect(code(full) == nil)
            #expect(code(folder.path + "/full/missing.flac") == 100)
        }
    }

    @Test("what a stranger named while its disk was away is judged again when that is back")
    func judgedAgain() throws {
        let folder = TemporaryFolder()
        let root = folder.folder("stick")
        let secret = folder.file("secret.flac")
        let named = Self.resolve(
            ["in.flac", "out.flac", "up/secret.flac", "pipe.flac"].map { .string(root + "/" + $0) }, roots: [root],
            isForeign: true)
        // Now the disk is there, with its prepared content.
        folder.file("stick/in.flac")
        symlink(secret, root + "/out.flac")
        symlink("..", root + "/up")
        mkfifo(root + "/pipe.flac", 0o644)
        let results = try named.get().map { media -> Int32? in
            guard case .confined(let place) = media.source else { return nil }
            let opened = place.openFile()
            if opened >= 0 { close(opened) }
            return min(0, opened)
        }
        #expect(results == [0, -EXDEV, -EXDEV, -EINVAL])
    }

    @Test func whatIsGivenUpEndsSoon() throws {
        let folder = TemporaryFolder()
        for number in 0..<20 { folder.file("\(number)/a.flac") }
        let abandoned = AbandonFlag()
        abandoned.set()
        let resolver = MediaResolver(
            roots: MediaRoots([]), isForeign: false, limit: 100, descriptors: [], abandoned: abandoned)
        let parameters = JSONObject([JSONObject.Member("items", [.string(folder.path + "/0"), "/nonexistent"])])
        #expect(try resolver.resolve(.other(.queueAdd), parameters).media.isEmpty)
    }

    @Test func descriptors() throws {
        let folder = TemporaryFolder()
        let path = folder.file("a.flac")
        mkfifo(folder.path + "/fifo", 0o600)
        func open(_ path: String, _ flags: Int32) -> OwnedDescriptor { OwnedDescriptor(Glibc.open(path, flags)) }
        let given = [
            open(path, O_RDONLY), open(path, O_WRONLY), open(folder.path, O_RDONLY), open("/dev/null", O_RDONLY),
            open(folder.path + "/fifo", O_RDWR), open(path, 0o10000000), open(path, O_RDWR),
        ]
        let codes = (0..<8).map { place in
            Self.refusal(Self.resolve([["descriptor": .integer(Int64(place))]], descriptors: given))?.code
        }
        #expect(codes == [nil, 100, 100, 100, 100, 100, nil, -32602])
        let media = try Self.resolve([["descriptor": 0, "uri": "shown", "title": "T"]], descriptors: given).get()
        #expect(media[0].source.uri == "shown")
        #expect(media[0].details?.given.title == "T")
    }
}

import ControlProtocol
import Glibc
import LibraryRuntime
import LinuxSystem
import TestSupport
import Testing

/// Files of saved lists.
@Suite struct ListFolderTests {
    private let place = TemporaryFolder()
    private var lists: ListFolder { ListFolder(FilePath(place.path("lists").utf8)!) }

    private static func name(_ text: String) throws -> ListName { try ListName(text) }

    private static let items = [
        ListItem(uri: "file:///srv/music/a.flac", title: "Björk - Jóga", duration: 305),
        ListItem(uri: "file:///srv/music/b%20c.flac"),
        // No line of M3U8 can hold these names.
        ListItem(uri: "file:///srv/%0Anew%20line"), ListItem(uri: "file:///srv/%FF.mp3", duration: 2),
        ListItem(uri: "file:///srv/space%20"), ListItem(uri: "file:///srv/#EXTM3U"),
        ListItem(uri: "file:///srv/disc.cue#track=3"),
        ListItem(uri: "https://example.org/stream?x=1#y", title: "#1, the \"best\""),
    ]

    @Test func nothingInTheWayOfAWriteIsOpened() throws {
        let name = try Self.name("Evening")
        let other = place.file("other", "precious")
        place.folder("lists")
        let fresh = place.path("lists/.saving")
        // A pipe, a link, a file of an interrupted write: none is waited for, followed or kept.
        for make in [{ mkfifo(fresh, 0o600) }, { symlink(other, fresh) }, { link(other, fresh) }] {
            try #require(make() == 0)
            try lists.save(.items(Self.items), as: name)
            #expect(access(fresh, F_OK) != 0)
            guard case .items(let items) = try lists.list(name).contents else { throw ListFailure.isFilter("Evening") }
            #expect(items.count == Self.items.count)
            #expect(place.read("other") == Array("precious".utf8))
        }
        // A folder stays, and the error names it.
        place.folder("lists/.saving")
        let error = #expect(throws: ListFailure.self) { try lists.save(.items([]), as: name) }
        guard case .system(let reason) = error else { throw ListFailure.missing("an error of the system") }
        #expect(reason.message.contains(".saving"))
        #expect(try lists.list(name).contents.kind == .items)
    }

    @Test func thereIsRoomForTenThousandLists() throws {
        place.folder("lists")
        for number in 0..<ListFolder.maximumLists { place.file("lists/\(number).m3u8", "") }
        let name = try Self.name("Evening")
        #expect(throws: ListFailure.tooMany(limit: 10_000)) { try lists.save(.items(Self.items), as: name) }
        // Those that exist can be changed and deleted.
        try lists.save(.items(Self.items), as: Self.name("7"))
        try lists.delete(Self.name("8"))
        try lists.save(.items(Self.items), as: name)
        let many = Array(repeating: ListItem(uri: "file:///x"), count: ListEdit.maximumItems + 1)
        #expect(throws: ListFailure.tooLong(limit: 100_000)) { try lists.save(.items(many), as: name) }
        guard case .items(let items) = try lists.list(name).contents else { throw ListFailure.isFilter("Evening") }
        #expect(items.count == Self.items.count)
    }

    @Test func itemsSurviveTheirText() throws {
        let name = try Self.name("Evening")
        let version = try lists.save(.items(Self.items), as: name)
        let list = try lists.list(name)
        #expect(list.version == version && version > 0 && version < 1 << 53)
        guard case .items(let items) = list.contents else { throw ListFailure.isFilter("Evening") }
        #expect(items.map(\.uri) == Self.items.map { $0.uri.replacing("/#EXT", with: "/%23EXT") })
        #expect(items.map(\.duration) == Self.items.map(\.duration))
        #expect(items.map(\.title) == Self.items.map(\.title))
    }

    @Test func otherProgramsFindPathsInTheFile() throws {
        try lists.save(.items(Array(Self.items.prefix(2))), as: try Self.name("Plain"))
        let text = String(decoding: place.read("lists/Plain.m3u8"), as: UTF8.self)
        #expect(
            text == "#EXTM3U\n#EXTINF:305,Björk - Jóga\n/srv/music/a.flac\n/srv/music/b c.flac\n")
    }

    @Test func titlesAreOneLine() throws {
        let name = try Self.name("Hostile")
        let hostile = ListItem(uri: "file:///a", title: "x\n/etc/passwd\n\u{1B}[2J", duration: 1)
        try lists.save(.items([hostile]), as: name)
        guard case .items(let items) = try lists.list(name).contents else { throw ListFailure.isFilter("") }
        #expect(items.map(\.uri) == ["file:///a"])
        #expect(items[0].title == "x/etc/passwd[2J")
    }

    @Test func listsOfOtherProgramsAreRead() throws {
        try lists.save(.items([]), as: try Self.name("x"))
        let text = "\u{FEFF}#EXTM3U\r\nrelative/a.mp3\r\n\r\n# words\r\n/abs/../b.mp3\r\n"
        _ = place.write(Array(text.utf8), "lists/Other.m3u8")
        guard case .items(let items) = try lists.list(try Self.name("Other")).contents else {
            throw ListFailure.isFilter("")
        }
        #expect(items.map(\.uri) == ["file://" + place.path("lists/relative/a.mp3"), "file:///abs/../b.mp3"])
        _ = place.write(Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\na.ts\n".utf8), "lists/Stream.m3u8")
        #expect(throws: ListFailure.self) { try lists.list(try Self.name("Stream")) }
    }

    @Test func theFolderShowsListsAlone() throws {
        #expect(try lists.summaries().isEmpty)
        for text in ["b", "a", "ä"] { try lists.save(.items([]), as: try Self.name(text)) }
        try lists.save(.filter(["artist": ["is": "x"]]), as: try Self.name("c"))
        for other in [".hidden.m3u8", "notes.txt", "-x.m3u8"] { _ = place.write([], "lists/" + other) }
        #expect(mkdir(place.path("lists/folder.m3u8"), 0o700) == 0)
        #expect(symlink("/etc/passwd", place.path("lists/link.m3u8")) == 0)
        let found = try lists.summaries()
        #expect(found.map(\.name.text) == ["a", "b", "c", "ä"])
        #expect(found.map(\.kind) == [.items, .items, .filter, .items])
        #expect(throws: ListFailure.missing("folder")) { try lists.list(try Self.name("folder")) }
        #expect(throws: ListFailure.self) { try lists.list(try Self.name("link")) }
    }

    @Test func versionsGuardChanges() throws {
        let name = try Self.name("Guarded")
        #expect(throws: ListFailure.version(0)) { try lists.save(.items([]), as: name, ifVersion: 5) }
        let first = try lists.save(.items([]), as: name, ifVersion: 0)
        #expect(throws: ListFailure.version(first)) { try lists.save(.items([]), as: name, ifVersion: 0) }
        let second = try lists.edit(name, [.insert(Self.items, at: nil)], ifVersion: first)
        #expect(second != first)
        #expect(throws: ListFailure.version(second)) { try lists.edit(name, [.clear], ifVersion: first) }
        #expect(throws: ListFailure.version(second)) { try lists.delete(name, ifVersion: first) }
        #expect(throws: ListFailure.outOfRange(edit: 1, count: 0)) {
            try lists.edit(name, [.clear, .remove(at: 0, count: 1)])
        }
        #expect(try lists.list(name).version == second)
        // A thousand changes of one moment and of one length have versions of their own.
        var versions = Set<Int64>()
        for _ in 0..<200 { versions.insert(try lists.edit(name, [.move(from: 0, count: 1, to: 1)])) }
        #expect(versions.count == 200)
        try lists.delete(name)
        #expect(throws: ListFailure.missing("Guarded")) { try lists.delete(name) }
    }

    @Test("items are added to a list, or make it; one that can't be read stays as it is")
    func appends() throws {
        let name = try Self.name("Grows")
        #expect(throws: ListFailure.version(0)) { try lists.append(Self.items, to: name, ifVersion: 5) }
        let first = try lists.append([Self.items[0]], to: name)
        let second = try lists.append([Self.items[1]], to: name, ifVersion: first)
        #expect(throws: ListFailure.version(second)) { try lists.append(Self.items, to: name, ifVersion: first) }
        #expect(try lists.list(name).contents == .items(Array(Self.items.prefix(2))))
        let stream = "#EXTM3U\n#EXT-X-TARGETDURATION:4\na.ts\n"
        place.file("lists/Stream.m3u8", stream)
        place.file("elsewhere", "#EXTM3U\n/a.flac\n")
        #expect(symlink(place.path("elsewhere"), place.path("lists/Link.m3u8")) == 0)
        place.file("lists/Long.m3u8")
        #expect(truncate(place.path("lists/Long.m3u8"), 65 << 20) == 0)
        try lists.save(.filter(["genre": ["is": "Jazz"]]), as: try Self.name("Filter"))
        for text in ["Stream", "Link", "Long", "Filter"] {
            #expect(throws: ListFailure.self, "\(text)") { try lists.append(Self.items, to: try Self.name(text)) }
        }
        #expect(place.read("lists/Stream.m3u8") == Array(stream.utf8))
        var status = stat()
        #expect(lstat(place.path("lists/Link.m3u8"), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(lstat(place.path("lists/Long.m3u8"), &status) == 0 && status.st_size == 65 << 20)
        #expect(try lists.list(try Self.name("Filter")).contents == .filter(["genre": ["is": "Jazz"]]))
    }

    @Test func namesAndKinds() throws {
        let (one, other) = (try Self.name("One"), try Self.name("Other"))
        try lists.save(.items(Self.items), as: one)
        try lists.save(.filter(["genre": ["is": "Jazz"]]), as: other)
        #expect(throws: ListFailure.exists("Other")) { try lists.rename(one, to: other) }
        #expect(throws: ListFailure.isFilter("Other")) { try lists.edit(other, [.clear]) }
        try lists.rename(one, to: one)
        try lists.delete(other)
        try lists.rename(one, to: other)
        #expect(try lists.summaries().map(\.name.text) == ["Other"])
        // The filter takes the place of the items.
        try lists.save(.filter(["genre": ["is": "Jazz"]]), as: other)
        #expect(try lists.summaries().map(\.kind) == [.filter])
        #expect(try lists.list(other).contents == .filter(["genre": ["is": "Jazz"]]))
        #expect(access(place.path("lists/.saving"), F_OK) != 0)
    }

    @Test(arguments: [
        "", ".", "..", ".x", "-x", "a/b", "a\nb", "a\u{0}b", "a\u{7F}", "a\u{2028}b", "a\u{85}",
        String(repeating: "x", count: 201), String(repeating: "ä", count: 101),
    ])
    func namesThatNoListHas(_ text: String) { #expect(throws: ListFailure.self) { try ListName(text) } }

    @Test(arguments: ["x", "x.y", "a b", "ä", "日本", "%2F", "a\\b", String(repeating: "x", count: 200)])
    func namesOfLists(_ text: String) throws {
        let name = try Self.name(text)
        try lists.save(.items([ListItem(uri: "file:///a")]), as: name)
        #expect(try lists.summaries().map(\.name) == [name])
    }

    @Test func aFullDiskLeavesTheListAsItWas() throws {
        let name = try Self.name("Kept")
        let version = try lists.save(.items(Self.items), as: name)
        // A folder at the name of the new file stands for a disk that refuses it.
        #expect(mkdir(place.path("lists/.saving"), 0o700) == 0)
        #expect(throws: ListFailure.self) { try lists.edit(name, [.clear]) }
        #expect(try lists.list(name).version == version)
    }
}

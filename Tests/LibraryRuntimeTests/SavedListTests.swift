import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing
import TrackDatabase

/// `lists.*` over the socket of the real library.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SavedListTests {
    private func house() async throws -> LibraryHouse {
        let house = LibraryHouse()
        try house.fill([
            .init(place: "music/a.wav", title: "A", number: 1), .init(place: "music/b.wav", title: "B", number: 2),
            .init(place: "music/c.wav", title: "C", number: 3), .init(place: "private/p.wav", title: "P", number: 4),
        ])
        await house.startLibrary()
        return house
    }

    private func titles(_ client: RawClient, _ parameters: JSONValue) throws -> [String] {
        let answer = try client.call("lists.get", parameters)
        return answer["result"]?["rows"]?.arrayValue?.map { $0["title"]?.stringValue ?? "\($0)" } ?? ["\(answer)"]
    }

    /// Bytes that the library has read from files.
    private func bytesRead(_ process: Int32) -> Int {
        guard let file = fopen("/proc/\(process)/io", "re") else { return 0 }
        defer { fclose(file) }
        var count = 0
        _ = withUnsafeMutablePointer(to: &count) { count in withVaList([count]) { vfscanf(file, "rchar: %ld", $0) } }
        return count
    }

    @Test func thePagesOfALongListReadItsFileOnce() async throws {
        let house = try await house()
        let line = "/" + String(repeating: "long-name/", count: 60)
        var text = "#EXTM3U\n"
        var count = 0
        while text.utf8.count + line.utf8.count + 16 < 2 << 20 {
            count += 1
            text += "\(line)\(count).flac\n"
        }
        house.folder.folder("state/library/lists")
        let path = house.folder.write(Array(text.utf8), "state/library/lists/Long.m3u8")
        let client = try RawClient(house.librarySocket)
        let process = try #require(UnixSocket.peer(client.descriptor)?.pid)
        var numbers: [Int] = []
        func page(_ offset: Int) throws -> Int {
            let before = bytesRead(process)
            let answer = try client.call(
                "lists.get", ["name": "Long", "offset": .integer(Int64(offset)), "limit": 100])
            let result = try #require(answer["result"], "\(answer)")
            #expect(result["count"] == .integer(Int64(count)))
            numbers += (result["rows"]?.arrayValue ?? []).compactMap {
                $0["uri"]?.stringValue?.split(separator: "/").last.flatMap { Int($0.dropLast(5)) }
            }
            return bytesRead(process) - before
        }
        #expect(try page(0) > text.utf8.count)
        for offset in stride(from: 100, to: 2000, by: 100) { #expect(try page(offset) < 1 << 20) }
        #expect(numbers == Array(1...2000))
        // Another program changes the file.
        count = 600
        let short = "#EXTM3U\n" + (1...count).map { "/new/\($0).flac\n" }.joined()
        #expect(house.folder.write(Array(short.utf8), "state/library/lists/Long.m3u8") == path)
        numbers = []
        _ = try page(500)
        #expect(numbers == Array(501...600))
    }

    @Test func listsAreSavedEditedAndRead() async throws {
        let house = try await house()
        let client = try RawClient(house.librarySocket)
        #expect(try client.call("lists.list")["result"] == ["lists": []])
        let saved = try client.call("lists.save", ["name": "Mine", "uris": ["music/b.wav", "music/a.wav"]])["result"]
        #expect(saved?["count"] == 2)
        let version = try #require(saved?["version"])
        #expect(try titles(client, ["name": "Mine"]) == ["B", "A"])
        let edits: JSONValue = [
            ["insert": ["uris": [.string(house.uri("music/c.wav")), "http://radio.invalid/x"], "at": 1]],
            ["move": ["from": 0, "count": 1, "to": 3]], ["remove": ["at": 2, "count": 1]],
        ]
        let edited = try client.call("lists.edit", ["name": "Mine", "edits": edits, "ifVersion": version])["result"]
        #expect(edited?["count"] == 3 && edited?["version"] != version)
        #expect(
            try client.call("lists.get", ["name": "Mine", "fields": ["uri"]])["result"]?["rows"] == [
                ["uri": .string(house.uri("music/c.wav"))], ["uri": "http://radio.invalid/x"],
                ["uri": .string(house.uri("music/b.wav"))],
            ])
        let page = try client.call("lists.get", ["name": "Mine", "offset": 1, "limit": 1])["result"]
        #expect(page?["count"] == 3 && page?["next"] == 2 && page?["rows"]?.arrayValue?.count == 1)
        let stale = try client.call("lists.edit", ["name": "Mine", "edits": [["clear": [:]]], "ifVersion": version])
        #expect(stale["error"]?["data"]?["reason"] == "version")
        #expect(stale["error"]?["data"]?["version"] == edited?["version"])
        let far = try client.call("lists.edit", ["name": "Mine", "edits": [["remove": ["at": 2, "count": 2]]]])
        #expect(far["error"]?["data"]?["reason"] == "outOfRange" && far["error"]?["data"]?["edit"] == 0, "\(far)")
        #expect(try client.call("lists.edit", ["name": "Mine", "edits": [[:]]]).errorCode == -32602)
        #expect(
            try client.call("lists.save", ["name": "Mine", "uris": ["music/a.wav"], "append": true])["result"]?["count"]
                == 4)
        #expect(try titles(client, ["name": "Mine", "offset": 3]) == ["A"])
        // Other programs read the file.
        let text = String(decoding: house.folder.read("state/library/lists/Mine.m3u8"), as: UTF8.self)
        #expect(text.contains("#EXTINF:1,An Artist - C\n\(house.folder.path("music/c.wav"))\n"), "\(text)")
        #expect(try client.call("lists.rename", ["name": "Mine", "to": "Yours"])["result"]?["version"] != nil)
        #expect(try client.call("lists.get", ["name": "Mine"])["error"]?["data"]?["reason"] == "noList")
        #expect(
            try client.call("lists.delete", ["name": "Yours", "ifVersion": 5])["error"]?["data"]?["reason"] == "version"
        )
        #expect(try client.call("lists.delete", ["name": "Yours"])["result"] == [:])
        #expect(try client.call("lists.list")["result"] == ["lists": []])
    }

    @Test func hostileNamesAreRefused() async throws {
        let house = try await house()
        let client = try RawClient(house.librarySocket)
        for name in [
            "", ".", "../up", "a/b", "-rf", ".hidden", "line\nend", "\u{1B}[2J", String(repeating: "x", count: 201),
        ] {
            let answer = try client.call("lists.save", ["name": .string(name), "uris": ["music/a.wav"]])
            #expect(answer.errorCode == -32602, "\(name): \(answer)")
            for method in ["lists.edit", "lists.rename", "lists.delete", "lists.get"] {
                let more: JSONValue =
                    method == "lists.edit"
                    ? ["name": .string(name), "edits": [["clear": [:]]]]
                    : method == "lists.rename" ? ["name": .string(name), "to": "Fine"] : ["name": .string(name)]
                let code = try client.call(method, more).errorCode
                #expect(code == -32602 || code == 100 && method == "lists.get", "\(method) \(name)")
            }
        }
        for name in ["…", "Björk – 'Best of'", "名前", "a b", "%2e%2e", "con.m3u8"] {
            #expect(try client.call("lists.save", ["name": .string(name), "uris": ["music/a.wav"]])["result"] != nil)
            #expect(try titles(client, ["name": .string(name)]) == ["A"], "\(name)")
        }
        #expect(try client.call("lists.list")["result"]?["lists"]?.arrayValue?.count == 6)
        #expect(try client.call("lists.save", ["name": "x", "uris": ["no such root/a.wav"]]).errorCode == -32602)
    }

    @Test func savedFiltersAreComputedWhenTheyAreRead() async throws {
        let house = try await house()
        await house.startDaemon()
        let client = try RawClient(house.librarySocket)
        let filter: JSONValue = ["trackNumber": ["atLeast": 2]]
        let saved = try client.call("lists.save", ["name": "Smart", "filter": filter, "sort": "-trackNumber"])
        #expect(saved["result"]?["version"] != nil && saved["result"]?["count"] == nil, "\(saved)")
        let got = try client.call("lists.get", ["name": "Smart"])["result"]
        #expect(got?["kind"] == "filter" && got?["filter"] == filter && got?["count"] == 3)
        #expect(try titles(client, ["name": "Smart"]) == ["P", "C", "B"])
        #expect(try titles(client, ["name": "Smart", "offset": 1, "limit": 1]) == ["C"])
        #expect(try client.call("library.add", ["list": "Smart"])["result"]?["count"] == 3)
        #expect(try house.queue() == ["P", "C", "B"])
        // Without an order, tracks come in the order in which they came into the library; the default is not kept.
        _ = try client.call("lists.save", ["name": "Plain", "filter": ["duration": ["atLeast": 0]]])
        #expect(try titles(client, ["name": "Plain"]) == ["A", "B", "C", "P"])
        #expect(try client.call("lists.get", ["name": "Plain"])["result"]?["sort"] == nil)
        let refused = try client.call("lists.edit", ["name": "Smart", "edits": [["clear": [:]]]])
        #expect(refused["error"]?["data"]?["reason"] == "isFilter")
        #expect(try client.call("lists.save", ["name": "Bad", "filter": ["titel": ["is": "x"]]]).errorCode == -32602)
        // The queue of a session, and back.
        let kept = try client.call("lists.save", ["name": "Kept", "session": "main"])["result"]
        #expect(kept?["count"] == 3 && kept?["missing"] == nil)
        #expect(try titles(client, ["name": "Kept"]) == ["P", "C", "B"])
        _ = try RawClient(house.daemonSocket).call("queue.clear")
        #expect(try client.call("library.add", ["list": "Kept"])["result"]?["count"] == 3)
        #expect(try house.queue() == ["P", "C", "B"])
        #expect(try client.call("lists.save", ["name": "No", "session": "nobody"]).errorCode == 100)
    }

    @Test func playlistsInTheLibraryAreReadOnlyLists() async throws {
        let house = LibraryHouse()
        house.folder.file("music/party.m3u", "a.wav\n../private/p.wav\nnowhere.wav\n")
        house.folder.file("private/own.pls", "[playlist]\nFile1=p.wav\n")
        try house.fill([
            .init(place: "music/a.wav", title: "A"), .init(place: "private/p.wav", title: "P"),
        ]) { batch throws(TrackDatabaseError) in
            try batch.setLists(
                [ListFile(path: TrackPath("music/party.m3u"), size: 36, modified: 7_000_000_000)],
                in: Array("music".utf8))
            try batch.setLists(
                [ListFile(path: TrackPath("private/own.pls"), size: 30, modified: 7)], in: Array("private".utf8))
        }
        await house.startDaemon()
        await house.startLibrary()
        let client = try RawClient(house.librarySocket)
        let lists = try client.call("lists.list")["result"]?["lists"]?.arrayValue ?? []
        #expect(lists.map { $0["name"] } == ["music/party.m3u", "private/own.pls"], "\(lists)")
        #expect(lists.allSatisfy { $0["kind"] == "file" && $0["isReadOnly"] == true })
        #expect(try titles(client, ["name": "music/party.m3u"]).prefix(2) == ["A", "P"])
        let rows = try client.call("lists.get", ["uri": .string(house.uri("music/party.m3u"))])["result"]?["rows"]
        #expect(
            rows?.arrayValue?.count == 3 && rows?.arrayValue?.last?["uri"] == .string(house.uri("music/nowhere.wav")))
        _ = try client.call("lists.save", ["name": "Pärty hits", "uris": ["music/a.wav"]])
        let hits = try client.call("library.search", ["text": "party", "kinds": ["list"]])["result"]?["rows"]
        let named = hits?.arrayValue?.map { $0["list"] }
        #expect(named == ["Pärty hits", "music/party.m3u"], "\(String(describing: hits))")
        _ = try client.call("lists.delete", ["name": "Pärty hits"])
        #expect(try client.call("library.search", ["text": "party"])["result"]?["rows"]?.arrayValue?.count == 1)
        let added = try client.call("library.add", ["list": "music/party.m3u"])["result"]
        #expect(added?["count"] == 2 && added?["missing"] == 1)
        #expect(try client.call("lists.get", ["name": "music/a.wav"])["error"]?["data"]?["reason"] == "noList")
        for (method, parameters) in [
            ("lists.save", ["name": "music/party.m3u", "uris": ["music/a.wav"]]),
            ("lists.edit", ["name": "music/party.m3u", "edits": [["clear": [:]]]]),
            ("lists.rename", ["name": "music/party.m3u", "to": "party"]), ("lists.delete", ["name": "music/party.m3u"]),
        ] as [(String, JSONValue)] {
            let error = try client.call(method, parameters)["error"]
            #expect(
                error?["message"]?.stringValue?.contains("is read-only") == true,
                "\(method): \(String(describing: error))")
        }
        guard geteuid() == 0 else { return }
        let answers = await house.stranger([
            ("lists.list", [:]), ("lists.get", ["name": "music/party.m3u"]), ("lists.get", ["name": "private/own.pls"]),
            ("lists.save", ["name": "Bad", "uris": [.string(house.folder.path("private/p.wav"))]]),
        ])
        try #require(answers.count == 4)
        #expect(answers[0]["result"]?["lists"]?.arrayValue?.map { $0["name"] } == ["music/party.m3u"])
        let shown = answers[1]["result"]?["rows"]?.arrayValue ?? []
        #expect(shown.count == 3 && shown[0]["title"] == "A" && shown[1] == .null, "\(shown)")
        #expect(answers[2].errorCode == 100 && answers[3].errorCode == 403)
        #expect(!JSONWriter.text(.array(answers)).contains("own.pls\",\"kind"))
    }

    /// The next event of a list; the scan of the library has events of its own.
    private static func listChange(_ watcher: RawClient) throws -> JSONValue? {
        while true {
            let event = try watcher.read()
            if event["method"] == "lists.changed" { return event["params"] }
        }
    }

    @Test func changesAreEventsAndOneOfTwoWriterWins() async throws {
        let house = try await house()
        let watcher = try RawClient(house.librarySocket)
        _ = try watcher.call("library.subscribe")
        let (one, two) = (try RawClient(house.librarySocket), try RawClient(house.librarySocket))
        let saved = try one.call("lists.save", ["name": "Shared", "uris": ["music/a.wav"]])["result"]
        #expect(try Self.listChange(watcher) == ["name": "Shared", "version": saved?["version"] ?? .null])
        var version = try #require(saved?["version"])
        for round in 0..<20 {
            let edit: JSONValue = [
                "name": "Shared", "edits": [["insert": ["uris": ["music/b.wav"]]]], "ifVersion": version,
            ]
            try one.request(1, "lists.edit", edit)
            try two.request(1, "lists.edit", edit)
            let answers = [try one.read(), try two.read()]
            let winners = answers.compactMap { $0["result"]?["version"] }
            #expect(winners.count == 1, "\(answers)")
            #expect(answers.compactMap { $0["error"]?["data"]?["reason"] } == ["version"])
            version = try #require(winners.first)
            #expect(try Self.listChange(watcher) == ["name": "Shared", "version": version], "\(round)")
        }
        #expect(try one.call("lists.get", ["name": "Shared"])["result"]?["count"] == 21)
        _ = try one.call("lists.rename", ["name": "Shared", "to": "Other"])
        #expect(try Self.listChange(watcher) == ["name": "Shared", "version": nil])
        #expect(try Self.listChange(watcher)?["name"] == "Other")
        _ = try one.call("lists.delete", ["name": "Other"])
        #expect(try Self.listChange(watcher) == ["name": "Other", "version": nil])
    }

    @Test("what two clients add to a list that is not there yet is all in it")
    func bothAppend() async throws {
        let house = try await house()
        let clients = [try RawClient(house.librarySocket), try RawClient(house.librarySocket)]
        for round in 0..<50 {
            let name = JSONValue.string("Round \(round)")
            for client in clients {
                try client.request(1, "lists.save", ["name": name, "uris": ["music/a.wav"], "append": true])
            }
            for client in clients { #expect(try client.read()["result"]?["version"] != nil) }
            #expect(try clients[0].call("lists.get", ["name": name])["result"]?["count"] == 2, "\(round)")
        }
    }

    @Test("a client that adds to a list that can't be read gets the reason, and the file stays")
    func unreadable() async throws {
        let house = try await house()
        let client = try RawClient(house.librarySocket)
        _ = try client.call("lists.save", ["name": "Stream", "uris": ["music/a.wav"]])
        let path = "state/library/lists/Stream.m3u8"
        let text = Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\na.ts\n".utf8)
        _ = house.folder.write(text, path)
        let answer = try client.call("lists.save", ["name": "Stream", "uris": ["music/a.wav"], "append": true])
        #expect(answer["error"] != nil && house.folder.read(path) == text)
    }

    /// Other programs change the files of lists: subscribers get each change once, and those of requests as before.
    @Test func changesByOtherProgramsAreEvents() async throws {
        let house = try await house()
        let watcher = try RawClient(house.librarySocket)
        _ = try watcher.call("library.subscribe")
        let client = try RawClient(house.librarySocket)
        func version(_ name: String) throws -> JSONValue {
            let lists = try client.call("lists.list")["result"]?["lists"]?.arrayValue ?? []
            return lists.first { $0["name"]?.stringValue == name }?["version"] ?? .null
        }
        let folder = house.folder.path("state/library/lists")
        #expect(becomes { access(folder, F_OK) == 0 })
        // An editor writes a file beside the list and renames it.
        house.folder.file("state/library/lists/.Mine.m3u8.swp", "#EXTM3U\n../../../music/a.wav\n")
        rename(folder + "/.Mine.m3u8.swp", folder + "/Mine.m3u8")
        #expect(try Self.listChange(watcher) == ["name": "Mine", "version": try version("Mine")])
        house.folder.file("state/library/lists/Mine.m3u8", "#EXTM3U\n../../../music/b.wav\n")
        #expect(try Self.listChange(watcher) == ["name": "Mine", "version": try version("Mine")])
        #expect(try client.call("lists.get", ["name": "Mine"])["result"]?["rows"]?.arrayValue?.count == 1)
        // A request's change is one event, not two: the next event is that of the next change.
        let saved = try client.call("lists.save", ["name": "Own", "uris": ["music/a.wav"]])["result"]
        #expect(try Self.listChange(watcher) == ["name": "Own", "version": saved?["version"] ?? .null])
        rename(folder + "/Mine.m3u8", folder + "/Yours.m3u8")
        #expect(try Self.listChange(watcher) == ["name": "Mine", "version": nil])
        #expect(try Self.listChange(watcher) == ["name": "Yours", "version": try version("Yours")])
        // A folder that is removed is made again, and watched.
        for name in ["Own", "Yours"] { unlink(folder + "/\(name).m3u8") }
        rmdir(folder)
        #expect(try Self.listChange(watcher) == ["name": "Own", "version": nil])
        #expect(try Self.listChange(watcher) == ["name": "Yours", "version": nil])
        let again = try client.call("lists.save", ["name": "Again", "uris": ["music/a.wav"]])["result"]
        #expect(try Self.listChange(watcher) == ["name": "Again", "version": again?["version"] ?? .null])
        unlink(folder + "/Again.m3u8")
        #expect(try Self.listChange(watcher) == ["name": "Again", "version": nil])
    }
}

import ControlProtocol
import Glibc
import TestSupport
import Testing
import TrackDatabase

/// Questions to the real program about a library in its database.
@Suite struct ReadingTests {
    init() { LoopThread.start() }

    @Test func pagesOfTracksAreBoundedAndWhole() async throws {
        let house = try await LibraryHouse(tracks: 3000)
        let all = TrackField.allCases.map { JSONValue.string($0.rawValue) }
        let fields = JSONObject([.init("fields", .array(all)), .init("limit", 10_000)])
        for sort: JSONValue in ["uri", ["-date", "title"], "random"] {
            var parameters = fields
            parameters["sort"] = sort
            let (rows, longest) = try house.walk("library.query", parameters)
            #expect(longest < 200 << 10)
            #expect(longest > 150 << 10, "a page is as long as it may be")
            #expect(rows.count == house.tracks.count)
            #expect(Set(rows.compactMap { $0["path"]?.stringValue }) == Set(house.tracks.map(\.shownPath)))
        }
    }

    @Test func aRowHasTheFieldsThatAreAskedFor() async throws {
        let house = try await LibraryHouse(tracks: 40) { record, index in
            if index == 1 { record = TrackRecord(path: TrackPath("Music/plain.flac")) }
            guard index == 0 else { return }
            record = TrackRecord(
                path: TrackPath(
                    folder: Array("Music/a b".utf8), name: Array("x\u{1b}".utf8) + [0xE9] + Array(".flac".utf8)))
            record.tags = [.artist: ["One", "Two\n"], .genre: ["Jazz"]]
            record.duration = 61.5
            record.numbers.trackNumber = 3
            record.file.modified = 1_700_000_000_500_000_000
            record.format.sampleRate = 44_100
            record.loudness.trackGain = -6.54
        }
        let uri = "file://\(house.music)/a%20b/x%1B%E9.flac"
        let row = try house.client.result("library.get", ["uris": [.string(uri)]])["rows"]?.arrayValue?.first
        #expect(
            row == [
                "uri": .string(uri), "path": "Music/a b/x\u{1b}\u{FFFD}.flac", "title": "x\u{1b}\u{FFFD}",
                "artist": "One, Two\n", "trackNumber": 3, "duration": 61.5,
            ])
        let fields: JSONValue = ["tags", "artists", "modified", "sampleRate", "missing", "playCount", "liked", "added"]
        let other = try house.client.result("library.get", ["uris": [.string(uri)], "fields": fields])["rows"]
        #expect(
            other == [
                [
                    "tags": ["artist": ["One", "Two\n"], "genre": ["Jazz"]], "artists": ["One", "Two\n"],
                    "modified": 1_700_000_000, "sampleRate": 44_100, "missing": false, "playCount": 0,
                    "added": 1_700_000_000,
                ]
            ])
        // The gains of tags are relative to −18 LUFS; a track without them has no loudness.
        let both: JSONValue = [.string(uri), .string("file://\(house.music)/plain.flac")]
        let loudness = try house.client.result("library.get", ["uris": both, "fields": ["loudness"]])["rows"]
        #expect(loudness == [["loudness": ["track": -11.46, "measured": false]], [:]])
        // Lines are read on terminals.
        try house.client.request(1, "library.get", ["uris": [.string(uri)], "fields": ["title", "artist"]])
        #expect(try !house.client.readLine().utf8.contains { $0 < 0x20 || $0 == 0x7f })
        #expect(
            try house.client.result("library.get", ["uris": ["/nowhere", .string(house.music), "http://x/y"]])["rows"]
                == [.null, .null, .null])
    }

    @Test func valuesAreCountedPageByPage() async throws {
        let house = try await LibraryHouse(tracks: 4000) { record, index in
            record.tags[.artist] = ["\(String(repeating: "a", count: 60)) \(index % 3900)"]
        }
        let (rows, longest) = try house.walk(
            "library.values", JSONObject([.init("tag", "artist"), .init("limit", 10_000)]))
        #expect(rows.count == 3900 && longest < 200 << 10 && longest > 150 << 10)
        #expect(rows.reduce(0) { $0 + ($1["tracks"]?.integerValue ?? 0) } == 4000)
        let grouped = try house.walk(
            "library.values", JSONObject([.init("tag", "genre"), .init("group", ["date"]), .init("limit", 7)])
        ).rows
        #expect(grouped.count > 20 && grouped.allSatisfy { $0["group"]?["date"]?.stringValue != nil })
    }

    @Test func foldersLeadToEachTrackOnce() async throws {
        let house = try await LibraryHouse(tracks: 400)
        var found: [String] = []
        var folders: [JSONValue] = try #require(house.client.result("library.browse")["rows"]?.arrayValue)
        #expect(
            folders == [["kind": "folder", "name": "Music", "path": "Music", "uri": .string("file://\(house.music)")]])
        var turn = 0
        while let folder = folders.popLast() {
            turn += 1
            // By the uri and by the path in turn.
            let key = turn % 2 == 0 ? "path" : "uri"
            let given = JSONObject([.init(key, folder[key] ?? .null), .init("limit", 5)])
            for row in try house.walk("library.browse", given).rows {
                if row["kind"] == "folder" { folders.append(row) } else { found += [row["path"]?.stringValue ?? ""] }
            }
        }
        #expect(found.sorted() == house.tracks.map(\.shownPath).sorted())
        for place: JSONValue in [["path": "Music/none"], ["path": "Other"], ["uri": "/"], ["path": "Music/../.."]] {
            #expect(try house.client.error("library.browse", place)["code"] == 100, "\(place)")
        }
    }

    @Test func theFilterOfEachHitLeadsToItsTracks() async throws {
        let house = try await LibraryHouse(tracks: 1500) { record, index in
            if index % 50 == 0 { record.path.folder += Array("/zebra é".utf8) }
        }
        var kinds: Set<String> = []
        for text in ["zebra", "the", "j", "a", "ro", "19"] {
            let hits = try #require(
                house.client.result("library.search", ["text": .string(text), "limit": 1000])["rows"]?.arrayValue)
            for hit in hits {
                let filter = try #require(hit["filter"])
                let count = try house.client.result("library.count", ["filter": filter])["tracks"]?.integerValue ?? 0
                let kind = hit["kind"]?.stringValue ?? ""
                switch kind {
                case "album", "genre": #expect(count == hit["tracks"]?.integerValue, "\(hit)")
                case "track": #expect(count == 1, "\(hit)")
                default: #expect(count > 0, "\(hit)")
                }
                #expect(hit["name"]?.stringValue?.isEmpty == false)
                kinds.insert(kind)
            }
        }
        #expect(kinds == ["artist", "album", "track", "genre", "folder"])
    }

    @Test func tracksAreFoundByTheirUris() async throws {
        let house = try await LibraryHouse(tracks: 60)
        let place = house.tracks[7].path
        let file = "\(house.music)/\(String(decoding: place.bytes.dropFirst(6), as: UTF8.self))"
        let folder = String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)])
        func count(_ filter: JSONValue) throws -> Int64? {
            try house.client.result("library.count", ["filter": filter])["tracks"]?.integerValue
        }
        let inFolder = Int64(house.tracks.count { $0.path.folder == place.folder })
        #expect(try count(["uri": ["is": .string(file)]]) == 1)
        #expect(try count(["uri": ["is": .string(house.tracks[7].shownPath)]]) == 1)
        #expect(try count(["folder": ["is": .string(folder)]]) == inFolder)
        #expect(try count(["folder": ["below": .string("file://" + house.music)]]) == 60)
        #expect(try count(["folder": ["below": "Music"]]) == 60)
        #expect(try count(["uri": ["is": "/elsewhere/x.flac"]]) == 0)
        #expect(try count(["not": ["folder": ["below": "/elsewhere"]]]) == 60)
    }

    /// Bytes that are not UTF-8 are percent-encoded in uris, and lead to the same file and folder.
    @Test func uriBytesLeadToNamesThatAreNoText() async throws {
        let house = try await LibraryHouse(tracks: 20) { record, index in
            let folder = Array("Music/J".utf8) + (index % 2 == 0 ? [0xFF] : [0xFE]) + Array("zz".utf8)
            record.path = TrackPath(folder: folder, name: Array("\(index)".utf8) + [0xE9] + Array(".mp3".utf8))
            record.tags = [:]
        }
        func count(_ filter: JSONValue) throws -> Int64? {
            try house.client.result("library.count", ["filter": filter])["tracks"]?.integerValue
        }
        let folder = "file://\(house.music)/J%FFzz"
        #expect(try count(["uri": ["is": .string(folder + "/4%E9.mp3")]]) == 1)
        #expect(try count(["uri": ["is": .string(folder + "/5%E9.mp3")]]) == 0)
        #expect(try count(["uri": ["is": .string("file://\(house.music)/J%FEzz/5%E9.mp3")]]) == 1)
        #expect(try count(["folder": ["is": .string(folder)]]) == 10)
        #expect(try count(["folder": ["below": .string(folder + "/")]]) == 10)
        #expect(try count(["uri": ["startsWith": "Music/J"]]) == 20)
        #expect(try count(["title": ["is": "4\u{FFFD}"]]) == 1)
        let hits = try #require(
            house.client.result("library.search", ["text": "4", "kinds": ["track"]])["rows"]?.arrayValue)
        #expect(hits.first?["uri"] == .string(folder + "/4%E9.mp3"))
        for hit in hits { #expect(try count(hit["filter"] ?? .null) == 1) }
    }

    @Test func hitsOfAlbumsHaveTheirDate() async throws {
        let house = try await LibraryHouse(tracks: 6) { record, index in
            record.path.folder = Array("Music/\(index / 3)".utf8)
            record.tags = [.album: ["Zebra"], .albumArtist: ["Ann"], .artist: ["Ann"]]
            record.tags[.date] = index < 3 ? [index == 1 ? "1971" : "1970-02-03"] : nil
        }
        let hits = try house.client.result("library.search", ["text": "zebra", "kinds": ["album"]])["rows"]?.arrayValue
        #expect(hits?.map { $0["date"] } == [.string("1970-02-03"), nil])
        let grouped = try house.client.result(
            "library.values", ["tag": "album", "group": ["albumArtist", "date"]])["rows"]?.arrayValue
        #expect(grouped?.map { $0["tracks"] } == [2, 1, 3])
        #expect(grouped?.map { $0["group"]?["date"] } == ["1970-02-03", "1971", .null])
    }
}

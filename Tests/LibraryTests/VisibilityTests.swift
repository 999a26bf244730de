import ControlProtocol
import Glibc
import TestSupport
import Testing
import TrackDatabase

/// Rows outside of the media roots are invisible to other users.
@Suite(.enabled(if: geteuid() == 0, "only root can become other users")) struct VisibilityTests {
    init() { LoopThread.start() }

    private static let group = 61_002

    /// A client that sends a file and prints the answers: a subscription would keep the connection open.
    private static let client = """
        import json, socket, sys
        library = socket.socket(socket.AF_UNIX)
        library.settimeout(20)
        library.connect(sys.argv[1])
        library.sendall(open(sys.argv[2], "rb").read())
        missing = int(sys.argv[3])
        for line in library.makefile("rb"):
            sys.stdout.buffer.write(line)
            missing -= "id" in json.loads(line)
            if missing == 0: break
        """

    /// The results of requests by another user in the read group.
    private static func results(_ house: LibraryHouse, _ requests: [(String, JSONValue)]) async throws -> [JSONValue] {
        var writer = JSONWriter()
        for (number, (method, parameters)) in requests.enumerated() {
            writer.request(
                id: Array("\(number)".utf8), method: method, parameters: parameters.objectValue ?? JSONObject())
            writer.newline()
        }
        let file = house.library.folder.write(writer.bytes, "requests")
        let socket = house.library.socket
        let words = [
            "setpriv", "--reuid", "65534", "--regid", "65534", "--groups", "\(group)", "/usr/bin/python3", "-c", client,
            socket, file, "\(requests.count)",
        ]
        let text = await LoopThread.run { TestProcess.run(words).text }
        return try text.split(separator: "\n").map { try JSONReader.read(String($0)) }.filter { $0["id"] != nil }.sorted
        {
            $0["id"]?.integerValue ?? 0 < $1["id"]?.integerValue ?? 0
        }.map { $0["result"] ?? $0["error"] ?? .null }
    }

    @Test func anotherUserSeesTheMediaRootsAlone() async throws {
        // Every third track lies in a folder of its own, which no media root covers.
        let house = try await LibraryHouse(
            tracks: 900, settings: "[access]\nmedia-roots = $/open\nread-group = \(Self.group)\n[library]\nfolders = $"
        ) { record, index in
            let rest = record.path.folder.dropFirst(5)
            record.path.folder = Array((index % 3 == 0 ? "Music/secret" : "Music/open").utf8) + rest
            if index % 3 == 0 { record.tags[.artist] = ["Secret \(index)"] }
        }
        let isOpen = { (record: TrackRecord) in record.shownPath.hasPrefix("Music/open/") }
        let open = house.tracks.filter(isOpen)
        let hidden = try #require(house.tracks.first { !isOpen($0) })
        let hiddenFile = house.music + hidden.shownPath.dropFirst(5)
        let answers = try await Self.results(
            house,
            [
                ("library.status", [:]), ("library.count", [:]),
                ("library.query", ["limit": 1000, "fields": ["path"]]),
                ("library.count", ["filter": ["artist": ["startsWith": "Secret"]]]),
                ("library.count", ["filter": ["not": ["artist": ["startsWith": "Secret"]]]]),
                ("library.values", ["tag": "artist", "limit": 10_000]),
                ("library.search", ["text": "secret", "limit": 1000]), ("library.browse", [:]),
                ("library.browse", ["path": "Music"]), ("library.browse", ["path": "Music/secret"]),
                ("library.get", ["uris": [.string(hiddenFile)]]),
                ("library.query", ["filter": ["uri": ["is": .string(hiddenFile)]]]),
                ("library.subscribe", [:]),
            ])
        try #require(answers.count == 13, "\(answers)")
        // Nor letter by letter: each test of a hidden path has the count of one that nothing has, or that all have.
        let hiddenTests: [JSONValue] = ["sec", "secr", "secret", "secret/"].flatMap { part -> [JSONValue] in
            ["uri", "folder"].flatMap { field -> [JSONValue] in
                ["contains", "startsWith", "matches"].map { test in
                    let text = test == "startsWith" ? "Music/" + part : test == "matches" ? part + ".*" : part
                    return .object(JSONObject([.init(field, .object(JSONObject([.init(test, .string(text))])))]))
                }
            }
        }
        let letters = try await Self.results(
            house,
            hiddenTests.map { ("library.count", ["filter": $0]) }
                + hiddenTests.map { ("library.count", ["filter": ["not": $0]]) })
        try #require(letters.count == 2 * hiddenTests.count)
        for (index, answer) in letters.enumerated() {
            let isNot = index >= hiddenTests.count
            let text = JSONWriter.text(hiddenTests[index % hiddenTests.count])
            #expect(answer["tracks"] == (isNot ? .integer(Int64(open.count)) : 0), "\(isNot) \(text): \(answer)")
        }
        let count = JSONValue.integer(Int64(open.count))
        #expect(answers[0]["tracks"] == count && answers[1]["tracks"] == count && answers[12]["tracks"] == count)
        #expect(!JSONWriter.text(answers[0]).contains("\"path\":\"\(house.music)\""))
        let paths = answers[2]["rows"]?.arrayValue?.compactMap { $0["path"]?.stringValue } ?? []
        #expect(Set(paths) == Set(open.map(\.shownPath)) && paths.count == open.count)
        #expect(answers[3]["tracks"] == 0 && answers[4]["tracks"] == count)
        let values = answers[5]["rows"]?.arrayValue ?? []
        #expect(!values.isEmpty && values.allSatisfy { $0["value"]?.stringValue?.hasPrefix("Secret") == false })
        #expect(answers[6]["rows"] == [])
        #expect(answers[7]["rows"]?.arrayValue?.map { $0["path"] } == ["Music"])
        #expect(answers[8]["rows"]?.arrayValue?.map { $0["path"] } == ["Music/open"])
        #expect(answers[9]["code"] == 100)
        #expect(answers[10]["rows"] == [.null] && answers[11]["rows"] == [])
        // The owner sees all.
        #expect(try house.client.result("library.count")["tracks"] == 900)
    }
}

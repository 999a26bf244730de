import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

/// The real program: its start and end, its refusals, and its costs.
@Suite struct ServerTests {
    init() { LoopThread.start() }

    /// The exit status and the messages of a start that fails.
    private static func run(_ command: [String]) async -> (status: Int32, text: String) {
        let process = await LoopThread.run {
            TestProcess(["sh", "-c", "exec \"$@\" 2>&1", "sh"] + command, output: true)
        }
        let text = process.readAll()
        return (process.wait(), text)
    }

    @Test func itBeginsAndEnds() async throws {
        let folder = TemporaryFolder()
        let library = await RealLibrary.start(in: folder, "")
        let hello = try library.connect().result("hello", ["client": "test"])
        #expect(hello["server"] == "nowplaying-library" && hello["role"] == "admin" && hello["protocol"] == 1)
        let second = await Self.run(RealLibrary.command(folder, ""))
        #expect(second.status == 1)
        #expect(second.text.contains("another nowplaying-library (pid \(library.process.pid)) is already running"))
        #expect(try library.connect().result("library.status")["tracks"] == 0)
        #expect(library.stop() == 0)
        #expect(access(library.socket, F_OK) != 0)
    }

    @Test func theTableIsWhatItAnswers() async throws {
        let library = await RealLibrary.start(in: TemporaryFolder(), "")
        let client = try library.connect()
        let methods = try client.result("rpc.discover")["methods"]?.arrayValue?.compactMap { $0["name"]?.stringValue }
        #expect(Set(methods ?? []) == Set(LibraryMethodName.allCases.map(\.rawValue)))
        for method in LibraryCatalogue.table.methods where method.role == .read {
            let example = try JSONReader.read(method.example)
            // Its object may not be there; the request itself is understood.
            let code = try client.error(method.name, example)["code"]?.integerValue ?? 0
            #expect(code >= 0, "\(method.name): \(code)")
        }
    }

    @Test(
        arguments: [
            ("library.valuse", #"{}"#, -32601, "library.values"),
            ("library.query", #"{"filtre":{}}"#, -32602, "filter"),
            ("library.query", #"{"fields":["titel"]}"#, -32602, "title"),
            ("library.query", #"{"filter":{"artits":{"is":"x"}}}"#, -32602, "artist"),
            ("library.query", #"{"filter":{"artist":{"contians":"x"}}}"#, -32602, "contains"),
            ("library.query", #"{"sort":"dat"}"#, -32602, "date"),
            ("library.query", #"{"sort":["random","title"]}"#, -32602, nil),
            ("library.query", #"{"filter":{}}"#, -32602, nil), ("library.query", #"{"filter":[]}"#, -32602, nil),
            ("library.query", #"{"limit":0}"#, -32602, nil), ("library.query", #"{"limit":10001}"#, -32602, nil),
            ("library.query", #"{"after":"zz"}"#, -32602, nil), ("library.query", #"{"after":"00ff"}"#, -32602, nil),
            ("library.query", #"{"seed":-1}"#, -32602, nil), ("library.values", #"{}"#, -32602, nil),
            ("library.values", #"{"tag":"uri"}"#, -32602, nil), ("library.get", #"{"uris":[]}"#, -32602, nil),
            ("library.browse", #"{"uri":"/a","path":"a"}"#, -32602, nil),
            ("library.search", #"{"text":"x","kinds":["artists"]}"#, -32602, "artist"),
            ("queue.add", #"{}"#, -32601, nil),
        ] as [(String, String, Int64, String?)])
    func refusals(_ method: String, _ parameters: String, _ code: Int64, _ nearest: String?) async throws {
        let client = try await Self.shared.value.connect()
        let error = try client.error(method, try JSONReader.read(parameters))
        #expect(error["code"]?.integerValue == code, "\(error)")
        #expect(error["message"]?.stringValue?.isEmpty == false)
        if let nearest { #expect(error["data"]?["nearest"]?.stringValue == nearest, "\(error)") }
    }

    /// One program for all refusals: they leave nothing behind.
    private static let shared = Task { await RealLibrary.start(in: TemporaryFolder(), "") }

    /// One program with many tracks, for tests that only read.
    private static let large = Task { try await LibraryHouse(tracks: 20_000).library }

    @Test func theHostileLeaveOthersUnharmed() async throws {
        let house = try await LibraryHouse(tracks: 2000)
        var clients: [RawClient] = []
        let deep = String(repeating: #"{"not":"#, count: 30) + "{}" + String(repeating: "}", count: 30)
        let long =
            #"{"any":["# + Array(repeating: #"{"title":{"contains":"a"}}"#, count: 199).joined(separator: ",") + "]}"
        let lines = [
            "", "{", "[]", "[[[[", "\u{0}",
            #"{"jsonrpc":"2.0","id":1,"method":"library.query","params":{"filter":\#(deep)}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"library.query","params":{"filter":\#(long),"sort":"-playCount"}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"library.values","params":{"tag":"title","group":["artist","genre","date","label"]}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"library.search","params":{"text":"\#(String(repeating: "é ", count: 1300))"}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"library.query","params":{"filter":{"title":{"matches":"\#(String(repeating: "*a", count: 400))"}}}}"#,
            String(repeating: "x", count: 300_000),
        ]
        for line in lines {
            let client = try house.library.connect()
            for _ in 0..<20 { try? client.send(line + "\n") }
            clients.append(client)
        }
        // Some wait for their answers, some leave at once.
        clients.removeFirst(3)
        let other = try house.library.connect()
        for _ in 0..<20 {
            #expect(try other.result("library.status")["tracks"]?.integerValue == 2000)
            #expect(try other.result("library.query", ["limit": 5])["rows"]?.arrayValue?.count == 5)
        }
        clients = []
        #expect(try other.result("library.count")["tracks"]?.integerValue == 2000)
    }

    /// A client whose two thousand questions wait holds up no other.
    @Test func manyQuestionsOfOneClientWaitForThemselves() async throws {
        let library = try await Self.large.value
        let busy = try library.connect()
        let question = #"{"jsonrpc":"2.0","id":1,"method":"library.query","params":{"sort":"-duration","limit":1}}"#
        // In one piece, which fits into the socket: the library reads it bit by bit.
        try busy.send(String(repeating: question + "\n", count: 2000))
        let other = try library.connect()
        for _ in 0..<10 { #expect(try other.result("library.status")["tracks"]?.integerValue == 20_000) }
        // Those of the other are not done yet.
        try other.request(1, "library.status")
        _ = try other.readLine()
        var answered = 0
        var poll = pollfd(fd: busy.descriptor, events: Int16(POLLIN), revents: 0)
        while answered < 2000, Glibc.poll(&poll, 1, 0) == 1 {
            _ = try busy.readLine()
            answered += 1
        }
        #expect(answered < 2000, "the status of another came before the last of two thousand answers")
    }

    /// Fifty clients that search without end hold up neither the status nor another client for longer than one turn of each.
    @Test func fiftyClientsThatSearchWithoutEndHoldUpNobody() async throws {
        let library = try await Self.large.value
        let questions = (0..<200).map { number in
            let letters = [97, 101, 105, 111, 117].map { String(UnicodeScalar(UInt8($0))) }
            let text = letters[number % 5] + letters[number / 5 % 5]
            return #"{"jsonrpc":"2.0","id":1,"method":"library.search","params":{"text":"\#(text)","limit":200}}"#
                + "\n"
        }
        let busy = try (0..<50).map { _ in try library.connect() }
        for client in busy { try client.send(questions.joined()) }
        /// Answers that each of the fifty has, without a wait.
        func answered() throws -> [Int] {
            try busy.map { client in
                var count = 0
                var poll = pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0)
                while Glibc.poll(&poll, 1, 0) == 1 {
                    _ = try client.readLine()
                    count += 1
                }
                return count
            }
        }
        let other = try library.connect()
        var slowest = 0.0
        for _ in 0..<20 {
            let begun = MonotonicTime.now
            #expect(try other.result("library.status")["tracks"]?.integerValue == 20_000)
            slowest = max(slowest, MonotonicTime.now.seconds(since: begun))
        }
        // The status waits for no search: those of all fifty would take many seconds.
        #expect(slowest < 1, "\(slowest)")
        let before = try answered()
        #expect(try other.result("library.search", ["text": "a"])["rows"]?.arrayValue?.isEmpty == false)
        let between = try answered()
        // A client's search had its turn after those that came before it, one of each of the others at most, and of those
        // that were on their way when it was sent.
        #expect((before + between).reduce(0, +) < 50 * 200, "the searches were still under way")
        #expect(between.allSatisfy { $0 <= 20 }, "\(between)")
    }

    @Test func atRestItDoesNotWake() async throws {
        let house = try await LibraryHouse(tracks: 500)
        let subscriber = try house.library.connect()
        // The first scan and the identities of the files are done.
        let isDone = becomes {
            let status = try? subscriber.result("library.status")
            return status?["scan"] == .null && status?["lastScan"]?["finished"] != nil
        }
        #expect(isDone)
        #expect(try subscriber.result("library.subscribe")["tracks"]?.integerValue == 500)
        _ = try house.walk("library.query", JSONObject())
        let process = house.library.process
        // Two seconds after the last question the readers go to rest, once. No other deadline is longer.
        #expect(standsStill(seconds: 3) { process.contextSwitches })
        #expect(hasNoRhythm { process.contextSwitches })
    }

    @Test func aReloadTakesOtherFolders() async throws {
        let folder = TemporaryFolder()
        let (first, second) = (folder.folder("one/Music"), folder.folder("two/Music"))
        let library = await RealLibrary.start(in: folder, "[access]\nmedia-roots = \(first)\n")
        let client = try library.connect()
        func roots() throws -> [String: String] {
            let rows = try client.result("library.status")["roots"]?.arrayValue ?? []
            return Dictionary(
                rows.map { ($0["name"]?.stringValue ?? "", $0["path"]?.stringValue ?? "") }, uniquingKeysWith: { $1 })
        }
        #expect(try roots() == ["Music": first])
        _ = RealLibrary.command(folder, "[access]\nmedia-roots = \(second)\n  \(first)\n")
        library.process.signal(SIGHUP)
        #expect(becomes { (try? roots()) == ["Music": first, "Music (2)": second] })
        // A mistake changes nothing.
        _ = RealLibrary.command(folder, "[library]\nscan-at = noon\n")
        library.process.signal(SIGHUP)
        #expect(try roots().count == 2)
        #expect(library.stop() == 0)
        // The names stay the same, regardless of the order of the roots.
        let again = await RealLibrary.start(in: folder, "[access]\nmedia-roots = \(second)\n  \(first)\n")
        let rows = try again.connect().result("library.status")["roots"]?.arrayValue ?? []
        #expect(rows.map { $0["name"]?.stringValue } == ["Music (2)", "Music"])
    }

    @Test func aDamagedDatabaseIsSetAside() async throws {
        let folder = TemporaryFolder()
        let path = RealLibrary.state(folder) + "/tracks.db"
        _ = folder.write(Array("this is not a database, but long enough to be looked at".utf8), "state/tracks.db")
        let library = await RealLibrary.start(in: folder, "")
        #expect(try library.connect().result("library.status")["tracks"] == 0)
        #expect(access(path + ".damaged", F_OK) == 0)
        #expect(library.stop() == 0)
    }
}

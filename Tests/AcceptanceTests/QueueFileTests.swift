import CLinux
import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// `queue.add` with a list in an open file, without a sound server.
    @Suite(.timeLimit(.minutes(5))) struct QueueFileTests {
        private func add(
            _ client: Client, _ path: String, _ more: [String: JSONValue] = [:]
        ) -> JSONValue {
            var parameters = JSONObject([.init("list", ["descriptor": 0])])
            for (name, value) in more { parameters[name] = value }
            return client.answer(client.send("queue.add", .object(parameters), files: [path]))
        }

        private func list(_ lines: [String], _ folder: TemporaryFolder, _ name: String = "list") -> String {
            folder.write(Array((lines.joined(separator: "\n") + "\n").utf8), name)
        }

        @Test("the items of a list are one change with ids in a row, like the same items on the line")
        func added() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let (client, folder) = (daemon.connect(), daemon.folder)
            let file = folder.silence("a.wav", seconds: 60)
            client.call("nowPlaying.subscribe")
            let lines = [
                "\"\(file)\"", "", "{\"uri\": \"http://192.0.2.1/b.flac\", \"title\": \"B\", \"duration\": 7.5}",
                "  \"file://\(file)\"\r", "\"http://192.0.2.1/c.flac\"",
            ]
            let path = list(lines, folder)
            let answer = add(client, path)
            #expect(answer["result"] == ["firstId": 1, "count": 4, "version": 1])
            #expect(client.events() == ["queue"])
            let items = client.call("queue.list")?["items"]?.arrayValue ?? []
            #expect(items.compactMap { $0["id"]?.integerValue } == [1, 2, 3, 4])
            #expect(items[1]["title"] == "B" && items[1]["duration"] == 7.5)
            #expect(items[0]["uri"] == items[2]["uri"])
            // Without an end of the last line, at an index, and played.
            let short = folder.write(Array("\"\(file)\"".utf8), "short")
            let next = add(client, short, ["at": 0, "play": true])
            #expect(next["result"]?["firstId"] == 5 && next["result"]?["count"] == 1)
            #expect(client.call("nowPlaying.get")?.itemID == 5)
            #expect(add(client, path, ["next": true])["result"]?["firstId"] == 6)
            #expect(client.call("queue.list")?["items"]?.arrayValue?[1]["id"] == 6)
            #expect(add(client, path, ["ifVersion": 1])["error"]?["data"]?["reason"] == "version")
        }

        @Test(
            "a refused line is named and nothing is added",
            arguments: [
                ("\"/nowhere/a.wav\"", 100), ("{\"uri\": \"http://192.0.2.1/a\", \"titel\": \"x\"}", -32602),
                ("{\"descriptor\": 0}", -32602), ("5", -32602), ("[\"http://192.0.2.1/a\"]", -32602),
                ("\"http://192.0.2.1/a\" \"b\"", -32602), ("{\"title\": \"x\"}", -32602), ("\"/dev/null\"", 100),
                ("{\"uri\": \"http://192.0.2.1/a\", \"duration\": -1}", -32602), ("\u{1}", -32602),
            ])
        func refused(line: String, code: Int) async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            var lines = (0..<900).map { "\"http://192.0.2.1/\(String(repeating: "x", count: 70))\($0).flac\"" }
            for number in [2, 850] {
                var lines = lines
                lines[number - 1] = line
                let error = try #require(add(client, list(lines, daemon.folder), ["strict": true])["error"])
                #expect(error["code"]?.integerValue == Int64(code), "\(line)")
                #expect(error["data"]?["line"]?.integerValue == Int64(number))
                #expect(error["message"]?.stringValue?.hasPrefix("line \(number) of the list: ") == true)
                #expect(client.call("queue.list")?["count"] == 0)
            }
            lines[7] = line
            lines[9] = line
            #expect(add(client, list(lines, daemon.folder), ["strict": true])["error"]?["data"]?["line"] == 8)
            let unknown = add(client, list(["{\"uri\": \"http://192.0.2.1/a\", \"titel\": \"x\"}"], daemon.folder))
            #expect(unknown["error"]?["data"]?["nearest"] == "title")
        }

        @Test("what is no list is refused: folders, devices, pipes, empty and endless files")
        func noLists() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let (client, folder) = (daemon.connect(), daemon.folder)
            for path in [folder.path, "/dev/zero"] { #expect(add(client, path)["error"]?["code"] == -32602, "\(path)") }
            for text in ["", "\n\n \n"] {
                let path = folder.write(Array(text.utf8), "empty")
                #expect(add(client, path)["error"]?["data"]?["parameter"] == "list")
            }
            let sparse = folder.path("sparse")
            let file = open(sparse, O_RDWR | O_CREAT, 0o600)
            ftruncate(file, off_t((256 << 20) + 1))
            #expect(add(client, sparse)["error"]?["data"]?["reason"] == "tooLarge")
            ftruncate(file, off_t(256 << 20))
            #expect(add(client, sparse)["error"]?["data"]?["line"] == 1)
            close(file)
            #expect(client.refusal("queue.add", ["list": ["descriptor": 0]]) == "-32602")
            #expect(client.refusal("queue.add", ["list": ["descriptor": 0], "items": ["/a"]]) == "-32602")
            #expect(client.refusal("queue.add", ["list": [:]]) == "-32602")
            #expect(client.refusal("queue.add", [:]) == "-32602")
            let nearest = client.error("queue.add", ["lists": ["descriptor": 0]])
            #expect(nearest?["data"]?["nearest"] == "list")
            #expect(client.call("queue.list")?["count"] == 0)
        }

        @Test("a folder in a line stands for its files; devices, sockets and pipes are refused with their line")
        func lineKinds() async throws {
            let daemon = await RealDaemon.silent()
            let (client, folder) = (daemon.connect(), daemon.folder)
            mkdir(folder.path("album"), 0o755)
            for name in ["2.wav", "10.wav", "1.wav"] { _ = folder.silence("album/\(name)", seconds: 1) }
            let single = folder.silence("single.wav", seconds: 1)
            let path = list(["\"\(folder.path("album"))\"", "\"\(single)\""], folder)
            #expect(add(client, path)["result"] == ["firstId": 1, "count": 4, "version": 1])
            let items = client.call("queue.list")?["items"]?.arrayValue ?? []
            #expect(items.compactMap { $0["title"]?.stringValue } == ["1", "2", "10", "single"])
            mkfifo(folder.path("pipe"), 0o600)
            mkdir(folder.path("empty"), 0o755)
            for name in ["/dev/zero", folder.path("pipe"), daemon.socket, folder.path("empty")] {
                let lines = list(["\"\(single)\"", "\"\(name)\""], folder)
                let refused = add(client, lines, ["strict": true])["error"]
                #expect(refused?["code"] == 100 && refused?["data"]?["line"] == 2, "\(name): \(refused ?? .null)")
            }
            #expect(client.call("queue.list")?["count"] == 4)
        }

        @Test("numbers of 2³¹ and beyond, and ranges that cross the end, are answered in words or with what there is")
        func largeNumbers() async throws {
            let daemon = await RealDaemon.silent()
            let (client, folder) = (daemon.connect(), daemon.folder)
            let path = list((0..<5).map { "\"http://192.0.2.1/\($0)\"" }, folder)
            #expect(add(client, path)["result"]?["count"] == 5)
            for number in [6, 2_147_483_648, 4_294_967_297, 9_007_199_254_740_991] as [Int64] {
                let index = JSONValue.integer(number)
                #expect(add(client, path, ["at": index])["error"]?["data"]?["reason"] == "outOfRange")
                #expect(client.error("queue.add", ["items": ["http://h/"], "at": index])?["code"] == 200)
                #expect(client.error("queue.move", ["ids": [1], "to": index])?["data"]?["reason"] == "outOfRange")
                for (method, parameters) in [
                    ("queue.get", ["id": index]), ("queue.remove", ["ids": [1, index]]),
                    ("queue.move", ["ids": [index], "to": 0]), ("queue.shuffle", ["ids": [1, index]]),
                    ("queue.prioritize", ["ids": [index], "priority": 1]),
                    ("item.update", ["id": index, "title": "x"]),
                    ("feedback.get", ["ids": [1, index]]), ("feedback.set", ["id": index, "like": true]),
                    ("play", ["itemId": index]),
                ] as [(String, JSONValue)] {
                    let refused = client.error(method, parameters)
                    #expect(refused?["code"] == 100, "\(method): \(refused ?? .null)")
                    #expect(refused?["data"]?["reason"] == "noSuchItem", "\(method): \(refused ?? .null)")
                    #expect(refused?["message"] == "there is no such item in the queue", "\(method)")
                }
                let page = client.call("queue.list", ["offset": index, "limit": 3])
                #expect(page?["items"]?.arrayValue?.isEmpty == true && page?["count"] == 5)
            }
            let page = client.call("queue.list", ["offset": 3, "limit": 10_000])
            #expect((page?["items"]?.arrayValue ?? []).compactMap { $0["id"]?.integerValue } == [4, 5])
            for offset in [9_007_199_254_740_992, -1, 0.5] as [JSONValue] {
                #expect(client.refusal("queue.list", ["offset": offset]) == "-32602", "\(offset)")
            }
            #expect(client.call("queue.list")?["version"] == 1)
        }

        @Test("two clients that edit at once with ifVersion: each change is on the version that its client saw")
        func twoEditors() async throws {
            let daemon = await RealDaemon.silent()
            let clients = [daemon.connect(), daemon.connect()]
            clients[0].call("queue.add", ["items": .array((0..<100).map { .string("http://192.0.2.1/\($0)") })])
            var (done, refused) = (0, 0)
            for round in 0..<60 {
                // Both know the same queue, and both ask before either has its answer.
                let known = clients.map { $0.call("queue.list") }
                let version = try #require(known[0]?["version"])
                let ids = (known[0]?["items"]?.arrayValue ?? []).compactMap { $0["id"] }
                let asked = clients.enumerated().map { number, client in
                    let id = ids[(round * 7 + number) % ids.count]
                    let edits: [(String, JSONObject)] = [
                        ("queue.move", JSONObject([.init("ids", [id]), .init("to", .integer(Int64(round % 2)))])),
                        ("queue.remove", JSONObject([.init("ids", [id])])),
                        ("queue.add", JSONObject([.init("items", ["http://192.0.2.1/new"]), .init("at", 3)])),
                    ]
                    var (method, parameters) = edits[(round + number) % 3]
                    parameters["ifVersion"] = version
                    return client.send(method, .object(parameters))
                }
                let answers = zip(clients, asked).map { $0.answer($1) }
                let accepted = answers.filter { $0["result"] != nil }
                #expect(accepted.count == 1, "\(answers)")
                #expect(answers.filter { $0["error"]?["data"]?["reason"] == "version" }.count == 1, "\(answers)")
                done += accepted.count
                refused += 2 - accepted.count
            }
            #expect(done == 60 && refused == 60)
            let listed = clients.map { $0.call("queue.list") }
            #expect(listed[0]?["version"] == 61 && listed[0] == listed[1])
        }

        @Test("a long list is there after a kill right behind the answer, with the edits around it")
        func killed() async throws {
            let daemon = await RealDaemon.silent()
            let (client, folder) = (daemon.connect(), daemon.folder)
            client.call("queue.add", ["items": ["http://192.0.2.1/first", "http://192.0.2.1/last"]])
            let lines = (0..<2000).map { "{\"uri\": \"http://192.0.2.1/\($0)\", \"title\": \"T\($0)\"}" }
            #expect(add(client, list(lines, folder), ["at": 1])["result"]?["firstId"] == 3)
            client.call("queue.remove", ["ids": [4]])
            func titles(_ client: Client) -> [String] {
                let page = client.call("queue.list", ["limit": 10_000, "fields": ["title", "uri"]])
                return (page?["items"]?.arrayValue ?? []).compactMap { $0["title"]?.stringValue }
            }
            let before = titles(client)
            #expect(before.count == 2001 && before[1] == "T0" && before[2] == "T2" && before[1999] == "T1999")
            daemon.process.signal(SIGKILL)
            daemon.process.wait()
            let next = await RealDaemon.start(nil, output: "null", in: folder)
            #expect(titles(next.connect()) == before)
            #expect(next.stop() == 0)
        }
    }
}

import CLinux
import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// `queue.add` with a list in an open file, without a sound server.
    @Suite(.timeLimit(.minutes(3))) struct QueueFileTests {
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
                let error = try #require(add(client, list(lines, daemon.folder))["error"])
                #expect(error["code"]?.integerValue == Int64(code), "\(line)")
                #expect(error["data"]?["line"]?.integerValue == Int64(number))
                #expect(error["message"]?.stringValue?.hasPrefix("line \(number) of the list: ") == true)
                #expect(client.call("queue.list")?["count"] == 0)
            }
            lines[7] = line
            lines[9] = line
            #expect(add(client, list(lines, daemon.folder))["error"]?["data"]?["line"] == 8)
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
    }
}

import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// `queue.list` with fields and long pages, and durations that clients give, without a sound server.
    @Suite(.timeLimit(.minutes(5))) struct QueuePageTests {
        /// Items, half of which have a text of `bytes` bytes.
        private func add(_ count: Int, bytes: Int, to client: Client) {
            let text = JSONValue.string(String(repeating: "x", count: bytes))
            let items = (0..<count).map { number -> JSONValue in
                let uri = JSONValue.string("http://192.0.2.1/\(number).flac")
                return number % 2 == 0 ? uri : ["uri": uri, "description": text, "title": "T"]
            }
            for start in stride(from: 0, to: count, by: 1000) {
                let part = Array(items[start..<min(count, start + 1000)])
                #expect(client.call("queue.add", ["items": .array(part)]) != nil)
            }
        }

        @Test("pages with fields end at the limit or at 192 KiB; next leads through the whole queue, each item once")
        func pages() async throws {
            let daemon = await RealDaemon.silent()
            let client = daemon.connect()
            add(12_000, bytes: 200, to: client)
            for (limit, fields) in [(10_000, ["id", "description"]), (7, ["id"]), (10_000, ["id"])] {
                var ids: [Int64] = []
                var offset: JSONValue? = 0
                var pages = 0
                while let from = offset, pages < 2000 {
                    let page = try #require(
                        client.call(
                            "queue.list",
                            [
                                "offset": from, "limit": .integer(Int64(limit)),
                                "fields": .array(fields.map { .string($0) }),
                            ]))
                    let items = page["items"]?.arrayValue ?? []
                    #expect(items.count <= limit && JSONWriter.text(page).utf8.count <= (192 << 10) + 200)
                    ids += items.compactMap { $0["id"]?.integerValue }
                    offset = page["next"]
                    pages += 1
                }
                #expect(ids == Array(1...12_000))
                #expect(pages == (limit == 7 ? 1715 : fields.count == 2 ? 8 : 2), "\(limit) \(fields) \(pages)")
            }
        }

        @Test("without fields a page of up to 1,000 is as it was; a longer one has the same keys and a next")
        func usual() async throws {
            let daemon = await RealDaemon.silent()
            let client = daemon.connect()
            add(1500, bytes: 10, to: client)
            let usual = try #require(client.call("queue.list", ["limit": 1000]))
            #expect(usual["items"]?.arrayValue?.count == 1000 && usual["next"] == nil)
            let long = try #require(client.call("queue.list", ["limit": 1001]))
            #expect(long["items"]?.arrayValue?.count == 1001 && long["next"] == 1001)
            #expect(long["items"]?.arrayValue?.prefix(1000) == usual["items"]?.arrayValue?.prefix(1000))
            #expect(client.call("queue.list")?["items"]?.arrayValue?.count == 100)
            let rest = try #require(client.call("queue.list", ["offset": 1499, "limit": 2000]))
            #expect(rest["items"]?.arrayValue?.count == 1 && rest["next"] == nil)
            let beyond = try #require(client.call("queue.list", ["offset": 1500, "fields": ["id"]]))
            #expect(beyond["items"] == [] && beyond["next"] == nil)
            let none = try #require(client.call("queue.list", ["limit": 0, "fields": ["id"]]))
            #expect(none["items"] == [] && none["next"] == nil)
        }

        @Test("all fields of the current item are as in the state; unknown fields are refused and the nearest is named")
        func fields() async throws {
            let daemon = await RealDaemon.silent()
            let client = daemon.connect()
            let file = JSONValue.string(daemon.folder.silence("a.wav", seconds: 60))
            let chapters: JSONValue = [["start": 0, "title": "One"], ["start": 30]]
            let item: JSONValue = [
                "uri": file, "title": "A", "artists": ["x", "y"], "trackNumber": 3, "isExplicit": true,
                "chapters": chapters, "texts": [["key": "title", "language": "de", "value": "B"]],
            ]
            client.call("queue.add", ["items": [item, file], "play": true])
            let all = JSONValue.array(ItemField.allCases.map { .string($0.rawValue) })
            let items = client.call("queue.list", ["fields": all])?["items"]?.arrayValue ?? []
            let shown = try #require(client.call("nowPlaying.get")?["item"]?.objectValue)
            for member in shown.members { #expect(items[0][member.name] == member.value, "\(member.name)") }
            #expect(items[0]["format"]?["sampleRate"] != nil)
            #expect(items[0]["texts"] == [["key": "title", "language": "de", "value": "B"]])
            #expect(items[1]["id"] == 2 && items[1]["title"] == "a")
            #expect(client.call("queue.list", ["fields": ["id", "id"], "limit": 1])?["items"] == [["id": 1]])
            let refused = client.answer(client.send("queue.list", ["fields": ["id", "durations"]]))["error"]
            #expect(refused?["code"] == -32602)
            #expect(refused?["data"]?["nearest"] == "duration" && refused?["data"]?["parameter"] == "fields[1]")
            for bad: JSONValue in [[], "id", [1], [.null]] {
                #expect(client.refusal("queue.list", ["fields": bad]) == "-32602")
            }
        }

        @Test("a client's duration counts until the file is open, survives a kill and refuses no seek")
        func durations() async throws {
            let folder = TemporaryFolder()
            let daemon = await RealDaemon.start(nil, output: "null", in: folder)
            let client = daemon.connect()
            let (a, b) = (folder.silence("a.wav", seconds: 60), folder.silence("b.wav", seconds: 60))
            client.call(
                "queue.add",
                ["items": [["uri": .string(a), "duration": 10.5], ["uri": .string(b), "duration": 20]]])
            func durations(_ client: Client) -> [JSONValue?] {
                (client.call("queue.list", ["fields": ["duration"]])?["items"]?.arrayValue ?? []).map { $0["duration"] }
            }
            #expect(durations(client) == [10.5, 20])
            #expect(client.call("item.update", ["id": 2, "duration": 21]) != nil)
            #expect(client.refusal("item.update", ["id": 2, "duration": 0]) == "-32602")
            #expect(client.refusal("item.update", ["id": 2, "duration": -1]) == "-32602")
            daemon.process.signal(SIGKILL)
            _ = daemon.process.wait()
            let again = await RealDaemon.start(nil, output: "null", in: folder)
            let later = again.connect()
            #expect(durations(later) == [10.5, 21])
            #expect(later.call("play", ["index": 0, "position": 40]) != nil)
            #expect(later.call("nowPlaying.get")?["item"]?["duration"] == 60)
            #expect(durations(later).first == 60)
            #expect(later.call("play", ["uri": .string(a), "duration": 5]) != nil)
            #expect(later.call("nowPlaying.get")?["item"]?["duration"] == 60)
            #expect(later.refusal("play", ["index": 0, "duration": 5]) == "-32602")
            #expect(again.stop() == 0)
        }
    }
}

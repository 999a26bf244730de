import ControlProtocol
import Glibc
import NowPlaying
import TestSupport
import Testing

extension Acceptance {
    /// `queue.changes` and the edits in events, without a sound server.
    @Suite(.timeLimit(.minutes(5))) struct QueueChangesTests {
        /// A client's copy of the queue, kept by edits alone.
        private struct Mirror {
            private(set) var ids: [Int64] = []
            private(set) var revision: Int64 = 0
            private(set) var isLost = false

            mutating func list(_ client: Client) {
                let list = client.call("queue.list", ["limit": 1000])
                ids = (list?["items"]?.arrayValue ?? []).compactMap { $0["id"]?.integerValue }
                revision = list?["revision"]?.integerValue ?? -1
                isLost = false
            }

            /// Takes the edits of an event, if they continue the copy.
            mutating func take(_ event: JSONValue) {
                guard let queue = event["queue"], let new = queue["revision"]?.integerValue, new > revision else {
                    return
                }
                guard queue["from"]?.integerValue == revision, let edits = queue["edits"]?.arrayValue else { return }
                apply(edits, new)
            }

            mutating func apply(_ edits: [JSONValue], _ new: Int64) {
                for edit in edits {
                    if let insert = edit["insert"] {
                        ids.insert(contentsOf: Self.ids(insert), at: Int(insert["at"]?.integerValue ?? -1))
                    } else if let remove = edit["remove"] {
                        let gone = Set(Self.ids(remove))
                        ids.removeAll { gone.contains($0) }
                    } else if let move = edit["move"] {
                        let moved = Self.ids(move)
                        ids.removeAll { moved.contains($0) }
                        ids.insert(contentsOf: moved, at: min(ids.count, Int(move["to"]?.integerValue ?? -1)))
                    } else if edit["clear"] != nil {
                        ids = []
                    } else if edit["order"] != nil {
                        isLost = true
                    } else if edit["update"] == nil {
                        Issue.record("an unknown edit: \(JSONWriter.text(edit))")
                    }
                }
                revision = new
            }

            private static func ids(_ edit: JSONValue) -> [Int64] {
                (edit["ids"]?.arrayValue ?? []).compactMap(\.integerValue)
            }
        }

        /// The ids of the queue as `queue.list` has them, and its revision.
        private func listed(_ client: Client) -> (ids: [Int64], revision: Int64) {
            var mirror = Mirror()
            mirror.list(client)
            return (mirror.ids, mirror.revision)
        }

        @Test("a client that follows only the edits of events has the queue's list, whatever others do")
        func events() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let follower = daemon.connect()
            let others = (0..<3).map { _ in daemon.connect() }
            follower.call("nowPlaying.subscribe")
            let file = JSONValue.string(daemon.folder.silence("a.wav", seconds: 60))
            var random = SeededRandom(seed: 11)
            var mirror = Mirror()
            mirror.list(follower)
            var (lost, asked) = (0, 0)
            for step in 0..<400 {
                let client = others[step % 3]
                let known = listed(client).ids
                let some = known.shuffled(using: &random).prefix(2).map { JSONValue.integer($0) }
                switch Int.random(in: 0..<20, using: &random) {
                case 0..<7:
                    let at = JSONValue.integer(Int64.random(in: 0...Int64(known.count), using: &random))
                    #expect(client.call("queue.add", ["items": [file, file], "at": at]) != nil)
                case 7..<11 where !some.isEmpty: #expect(client.call("queue.remove", ["ids": .array(some)]) != nil)
                case 11..<14 where some.count == 2:
                    #expect(client.call("queue.move", ["ids": .array(some), "to": 0]) != nil)
                case 14..<18 where !some.isEmpty:
                    let title = JSONValue.string("\(step)")
                    #expect(client.call("item.update", ["id": some[0], "title": title]) != nil)
                case 18: #expect(client.call("queue.shuffle") != nil)
                case 19: #expect(client.call("play") != nil || known.isEmpty)
                default: #expect(client.call("queue.clear") != nil)
                }
                follower.call("rpc.discover")
                for event in follower.takeNotifications() { mirror.take(event) }
                let (ids, revision) = listed(client)
                // An event may come later than the answer of another client.
                if mirror.revision != revision, !mirror.isLost {
                    asked += 1
                    let new = try #require(
                        follower.call("queue.changes", ["since": .integer(mirror.revision)]))
                    #expect(new["revision"]?.integerValue == revision)
                    mirror.apply(try #require(new["edits"]?.arrayValue), revision)
                }
                if mirror.isLost {
                    lost += 1
                    mirror.list(follower)
                }
                #expect(mirror.ids == ids && mirror.revision == revision, "\(step)")
            }
            // Only a new order is not in edits.
            #expect(lost < 40 && asked < 200)
        }

        @Test("queue.changes answers edits, none at the present revision, and a reset for what it does not know")
        func changes() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            let file = JSONValue.string(daemon.folder.silence("a.wav", seconds: 60))
            #expect(client.call("queue.changes", ["since": 0]) == ["version": 0, "revision": 0, "edits": []])
            client.call("queue.add", ["items": [file, file, file]])
            client.call("item.update", ["id": 2, "title": "B"])
            client.call("item.update", ["id": 3, "title": "C"])
            client.call("queue.move", ["ids": [3], "to": 0])
            client.call("queue.remove", ["ids": [1]])
            let edits: JSONValue = [
                ["insert": ["at": 0, "ids": [1, 2, 3]]], ["update": ["ids": [2, 3]]],
                ["move": ["to": 0, "ids": [3]]], ["remove": ["ids": [1]]],
            ]
            #expect(client.call("queue.changes", ["since": 0]) == ["version": 3, "revision": 5, "edits": edits])
            // A title that is there already changes nothing.
            client.call("item.update", ["id": 3, "title": "C"])
            #expect(client.call("queue.list")?["revision"] == 5)
            #expect(client.call("queue.changes", ["since": 6]) == ["version": 3, "revision": 5, "reset": true])
            client.call("queue.shuffle", ["ifVersion": 3])
            client.call("queue.clear")
            #expect(
                client.call("queue.changes", ["since": 2]) == ["version": 5, "revision": 7, "edits": [["clear": [:]]]])
            for bad: JSONValue in [[:], ["since": -1], ["since": 1.5], ["since": "1"]] {
                #expect(client.refusal("queue.changes", bad) == "-32602")
            }
            let unknown = client.error("queue.changes", ["since": 1, "sinc": 1])
            #expect(unknown?["code"] == -32602 && unknown?["data"]?["nearest"] == "since")
            #expect(client.refusal("queue.changes", ["since": 1, "session": "none"]).hasPrefix("100"))
        }

        @Test(
            "of two clients that edit at once with the same ifVersion one is refused, and item.update leaves it valid")
        func versions() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let (one, other) = (daemon.connect(), daemon.connect())
            let file = JSONValue.string(daemon.folder.silence("a.wav", seconds: 60))
            one.call("queue.add", ["items": [file, file]])
            for _ in 0..<50 {
                let version = one.call("queue.list")?["version"] ?? .null
                #expect(other.call("item.update", ["id": 1, "title": .string("\(version)")]) != nil)
                let parameters: JSONValue = ["ids": [2], "to": 0, "ifVersion": version]
                let requests = [one.send("queue.move", parameters), other.send("queue.move", parameters)]
                let answers = [one.answer(requests[0]), other.answer(requests[1])]
                #expect(answers.count { $0["result"] != nil } == 1)
                let error = answers.compactMap { $0["error"] }.first
                #expect(error?["code"] == 200 && error?["data"]?["reason"] == "version")
            }
        }

        @Test("revisions go on over a kill, and what a client held before is reset")
        func restarts() async throws {
            let folder = TemporaryFolder()
            let file = JSONValue.string(folder.silence("a.wav", seconds: 60))
            var last: Int64 = 0
            for run in 0..<3 {
                let daemon = await RealDaemon.start(nil, output: "null", in: folder)
                let client = daemon.connect()
                let state = try #require(client.call("nowPlaying.get")?["queue"])
                let list = try #require(client.call("queue.list"))
                #expect(list["revision"] == state["revision"] && state["from"] == nil)
                if run > 0 {
                    #expect(list["revision"]?.integerValue ?? 0 > last)
                    #expect(client.call("queue.changes", ["since": .integer(last)])?["reset"] == true)
                }
                client.call("queue.add", ["items": [file, file]])
                client.call(
                    "item.update", ["id": list["items"]?.arrayValue?.first?["id"] ?? 1, "title": .string("\(run)")])
                last = client.call("queue.list")?["revision"]?.integerValue ?? 0
                daemon.process.signal(SIGKILL)
                _ = daemon.process.wait()
            }
        }
    }
}

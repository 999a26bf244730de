import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// Edits of the queue, descriptors, batches and saved state, without a sound server.
    @Suite(.timeLimit(.minutes(5))) struct QueueTests {
        private func ids(_ client: Client) -> [Int64] {
            let list = client.call("queue.list")
            return (list?["items"]?.arrayValue ?? []).compactMap { $0["id"]?.integerValue }
        }

        @Test("entries are added, moved and removed; each edit is one event and one version")
        func edits() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let first = try #require(client.call("queue.add", ["items": daemon.silences(60, 60, 60), "play": true]))
            #expect(first["ids"] == [1, 2, 3])
            #expect(client.events() == ["queue", "play"])
            let file = JSONValue.string(daemon.folder.path("0.wav"))
            #expect(client.call("queue.add", ["items": [file], "next": true])?["ids"] == [4])
            #expect(client.call("queue.add", ["items": [file], "at": 0])?["ids"] == [5])
            #expect(client.call("queue.add", ["items": [["uri": file, "title": "Named"]]])?["ids"] == [6])
            #expect(ids(client) == [5, 1, 4, 2, 3, 6])
            client.call("queue.move", ["ids": [3, 5], "to": 1])
            #expect(ids(client) == [1, 3, 5, 4, 2, 6])
            client.call("queue.remove", ["ids": [5, 2]])
            #expect(ids(client) == [1, 3, 4, 6])
            #expect(client.events() == Array(repeating: "queue", count: 5))
            let state = try #require(client.call("nowPlaying.get"))
            #expect(state["queue"]?["count"] == 4)
            #expect(state["upcoming"]?["itemId"] == 3)
            #expect(client.call("queue.get", ["id": 6])?["title"] == "Named")
            let version = state["queue"]?["version"]?.integerValue ?? 0
            #expect(client.refusal("queue.clear", ["ifVersion": .integer(version - 1)]) == "200 version")
            #expect(client.refusal("queue.add", ["items": [file, "/nowhere/x.wav"], "strict": true]) == "100")
            #expect(client.refusal("queue.add", ["items": [file], "at": 5]) == "200 outOfRange")
            #expect(client.events() == [])
            let changed = try #require(client.call("queue.shuffle", ["ifVersion": .integer(version)]))
            #expect(changed["version"]?.integerValue ?? 0 > version)
            #expect(ids(client).first == 1)
            #expect(ids(client).sorted() == [1, 3, 4, 6])
        }

        @Test("a move that names an item twice is refused and changes nothing")
        func movedTwice() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("queue.add", ["items": daemon.silences(60, 60)])
            let before = client.call("queue.list")
            for ids: JSONValue in [[1, 1], [1, 2, 1], [2, 2, 2]] {
                #expect(client.refusal("queue.move", ["ids": ids, "to": 0]) == "-32602")
            }
            #expect(client.call("queue.list") == before)
        }

        @Test("a folder with long texts costs little on the disk; texts past the limit are refused, nothing is lost")
        func longTexts() async throws {
            let folder = TemporaryFolder()
            let daemon = await RealDaemon.start(nil, output: "null", in: folder, readsTitles: false)
            let client = daemon.connect()
            mkdir(folder.path("album"), 0o755)
            for number in 0..<500 { _ = folder.silence("album/\(number).wav", seconds: 0.01) }
            func add(_ letter: String) -> JSONValue {
                let artists = (0..<57).map { _ in JSONValue.string(String(repeating: letter, count: 4096)) }
                return ["items": [["uri": .string(folder.path("album")), "artists": .array(artists)]]]
            }
            for letter in ["a", "b"] { #expect(client.call("queue.add", add(letter)) != nil) }
            #expect(client.refusal("queue.add", add("c")) == "200 queueFull")
            #expect(client.call("queue.list")?["count"] == 1000)
            #expect(daemon.stop() == 0)
            var status = stat()
            #expect(stat(folder.path("state/queue"), &status) == 0 && status.st_size < 4 << 20, "\(status.st_size)")
            let again = await RealDaemon.start(nil, output: "null", in: folder, readsTitles: false)
            let later = again.connect()
            #expect(later.call("queue.list")?["count"] == 1000)
            let artists = later.call("queue.get", ["id": 900])?["artists"]?.arrayValue
            #expect(artists?.count == 57 && artists?.last?.stringValue?.first == "b")
            #expect(again.stop() == 0)
        }

        @Test("removing the playing item goes to the next, clearing is one stop")
        func removeThePlaying() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("queue.add", ["items": daemon.silences(60, 60, 60, 60), "play": true])
            #expect(client.events() == ["queue", "play"])
            client.call("queue.remove", ["ids": [1, 2]])
            #expect(client.events() == ["track removed"])
            let state = try #require(client.call("nowPlaying.get"))
            #expect(state.itemID == 3)
            #expect(state["queue"]?["index"] == 0 && state["queue"]?["count"] == 2)
            client.call("pause")
            client.call("queue.remove", ["ids": [3]])
            #expect(client.events() == ["pause", "track removed"])
            #expect(client.call("nowPlaying.get")?.playing == "paused")
            client.call("queue.remove", ["ids": [4]])
            #expect(client.events() == ["stop removed"])
            #expect(client.call("nowPlaying.get")?["item"] == .null)
            client.call("queue.clear")
            #expect(client.events() == [])
            client.call("queue.add", ["items": daemon.silences(60, 60), "play": true])
            client.call("queue.clear")
            #expect(client.events() == ["queue", "play", "stop removed"])
            let cleared = try #require(client.call("nowPlaying.get"))
            #expect(cleared["item"] == .null)
            #expect(cleared["queue"]?["count"] == 0)
        }

        @Test("ids are never used twice, also over a restart")
        func idsOverRestart() async throws {
            let folder = TemporaryFolder()
            let file = JSONValue.string(folder.silence("a.wav", seconds: 1))
            var last: Int64 = 0
            var instances: Set<String> = []
            for _ in 0..<3 {
                let daemon = await RealDaemon.start(nil, output: "null", in: folder, readsTitles: false)
                let client = daemon.connect()
                let ids = try #require(client.call("queue.add", ["items": [file, file]])?["ids"]?.arrayValue)
                for id in ids.compactMap(\.integerValue) {
                    #expect(id > last && id < 1 << 31)
                    last = id
                }
                // Sessions have other numbers, and a refused request takes none.
                client.call("session.create", ["name": "other"])
                let other = client.call("queue.add", ["items": [file], "session": "other"])?["ids"]
                #expect(other == [.integer(last + 1)])
                #expect(client.refusal("queue.add", ["items": [file], "at": 9_999_999]) == "200 outOfRange")
                client.call("session.close", ["name": "other"])
                last += 1
                client.call("queue.clear")
                let next = client.call("queue.add", ["items": [file]])?["ids"]?.arrayValue?.first?.integerValue ?? 0
                #expect(next > last)
                last = next
                instances.insert(client.call("hello")?["instance"]?.stringValue ?? "")
                client.call("daemon.quit")
                #expect(daemon.process.wait() == 0)
            }
            #expect(instances.count == 3)
        }

        @Test("open files are played and queued under the name that came with them, whatever becomes of their path")
        func descriptors() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let folder = daemon.folder
            let (a, b) = (folder.silence("a.wav", seconds: 60), folder.silence("b.wav", seconds: 60))
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            let added = client.call(
                "queue.add", ["items": [["descriptor": 0, "uri": "shown name", "title": "First"], ["descriptor": 1]]],
                files: [a, b])
            #expect(added?["ids"] == [1, 2])
            unlink(a)
            unlink(b)
            client.call("play")
            let state = try #require(client.call("nowPlaying.get"))
            #expect(state.playing == "playing")
            #expect(state["item"]?["uri"] == "shown name")
            #expect(state["item"]?["title"] == "First")
            #expect(state["item"]?["duration"] == 60)
            client.call("nextTrack")
            #expect(client.call("nowPlaying.get")?.itemID == 2)
            #expect(client.events() == ["queue", "play", "track next"])
            let c = folder.silence("c.wav", seconds: 30)
            client.call("play", ["descriptor": 0, "uri": "other"], files: [c])
            #expect(client.events() == ["track replaced"])
            #expect(client.call("nowPlaying.get")?["item"]?["duration"] == 30)
            #expect(client.refusal("play", ["descriptor": 0]) == "-32602")
            let text = folder.write(Array("no sound".utf8), "text.wav")
            let refused = client.answer(client.send("play", ["descriptor": 0, "uri": "text"], files: [text]))
            #expect(refused["error"]?["code"] == 100)
            #expect(client.events() == [])
        }

        @Test("a batch is applied in one turn, though others send commands all the while")
        func batches() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let (client, other) = (daemon.connect(), daemon.connect())
            client.call("hello", ["client": "batch"])
            other.call("hello", ["client": "other"])
            client.call("nowPlaying.subscribe")
            let steps = (1...50).map { client.request("volume.set", ["volume": .number(Double($0) / 100)]) }
            for step in 0..<20 { other.send("volume.set", ["volume": .number(0.5 + Double(step) / 100)]) }
            client.sendLine("[" + steps.map(\.text).joined(separator: ",") + "]")
            for step in 0..<20 { other.send("volume.set", ["volume": .number(0.7 + Double(step) / 100)]) }
            let answers = client.batchAnswer()
            #expect(Set(answers.compactMap { $0["id"]?.integerValue }) == Set(steps.map { Int64($0.number) }))
            other.call("nowPlaying.get")
            client.call("nowPlaying.get")
            let names = client.notifications.map { $0["by"]?["client"]?.stringValue ?? "" }
            let first = try #require(names.firstIndex(of: "batch"))
            #expect(names[first..<(first + 50)].allSatisfy { $0 == "batch" })
            let sequences = client.notifications.map(\.sequence)
            for (one, next) in zip(sequences, sequences.dropFirst()) { #expect(next == one + 1) }
            // All of it is refused or none of it alone: each step is answered for itself.
            client.sendLine(
                #"[{"jsonrpc":"2.0","id":"a","method":"pause"},{"jsonrpc":"2.0","id":"b","method":"play"}]"#)
            let mixed = client.batchAnswer()
            #expect(mixed.first { $0["id"] == "a" }?["result"]?["status"] == "success")
            #expect(mixed.first { $0["id"] == "b" }?["error"]?["code"] == 110)
        }

        @Test("volume: set, stepped within its limits, muted, over time")
        func volume() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            func state() -> JSONValue { client.call("nowPlaying.get") ?? .null }
            #expect(client.call("volume.set", ["volume": 0.5])?["volume"] == 0.5)
            #expect(client.call("volume.set", ["volume": 0.5])?["volume"] == 0.5)
            #expect(client.events() == ["volume"])
            client.call("volume.set", ["step": -0.7])
            #expect(state()["volume"] == 0)
            client.call("volume.set", ["step": 2])
            #expect(state()["volume"] == 1)
            client.call("volume.set", ["muted": true])
            #expect(state()["muted"] == true)
            #expect(state()["volume"] == 1)
            #expect(client.events() == ["volume", "volume", "volume"])
            for bad: JSONValue in [["volume": 1.1], ["volume": -0.1], [:], ["volume": 0.5, "step": 0.1]] {
                #expect(client.refusal("volume.set", bad) == "-32602", "\(bad)")
            }
            client.call("volume.set", ["muted": false, "volume": 0.2, "over": 0.3])
            while client.event("volume")["volume"] != 0.2 {}
            #expect(state()["muted"] == false)
            #expect(client.events() == [])
        }

        @Test("a step in a fade begins with the volume that is heard, and so does another fade")
        func volumeInAFade() async throws {
            let daemon = await RealDaemon.silent(readsTitles: false)
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("volume.set", ["volume": 0])
            // It takes an hour: next to nothing of it is heard yet.
            client.call("volume.set", ["volume": 1, "over": 3600])
            let stepped = try #require(client.call("volume.set", ["step": 0.1])?["volume"]?.doubleValue)
            #expect((0.1..<0.2).contains(stepped), "\(stepped)")
            // A part of a fade, and another one from there.
            client.call("volume.set", ["volume": 0])
            client.call("volume.set", ["volume": 1, "over": 10])
            await LoopThread.wait(seconds: 0.3)
            client.call("volume.set", ["volume": 1, "over": 3600])
            let stopped = try #require(client.call("volume.set", ["step": 0])?["volume"]?.doubleValue)
            #expect((0.01..<0.9).contains(stopped), "\(stopped)")
            #expect(client.call("nowPlaying.get")?["volume"]?.doubleValue == stopped)
        }
    }
}

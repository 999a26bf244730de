import ControlProtocol
import Glibc
import TestSupport
import Testing

/// Sessions of the daemon as partitions, other players, and announcements.
@Suite(.timeLimit(.minutes(5)), .serialized) struct PartitionTests {
    private let folder = TemporaryFolder()

    private func song(_ name: String, seconds: Int = 60) -> String {
        folder.silence(name, seconds: seconds)
    }

    @Test("another player that becomes active is the one item; its queue cannot be changed, and it comes back")
    func otherPlayer() async throws {
        let house = await MPDHouse.start(in: folder)
        let client = try house.client()
        for name in ["a.wav", "b.wav"] { #expect(try client.ask("add \(song(name))") == ["OK"]) }
        let first = Int(try client.value("playlist", of: "status") ?? "") ?? 0
        #expect(try client.ask("idle playlist") == ["changed: playlist", "OK"])
        try client.send("idle playlist")
        let other = try house.daemonClient()
        _ = try other.result("session.create", ["name": "air", "external": true, "commands": ["play", "pause"]])
        _ = try other.result(
            "nowPlaying.publish",
            [
                "session": "air", "state": "playing", "item": ["title": "Aria", "artist": "Bach", "duration": 100],
                "anchor": ["elapsed": 30],
            ])
        #expect(try client.answer() == ["changed: playlist", "OK"])
        let status = try client.ask("status")
        for line in ["playlistlength: 1", "state: play", "song: 0", "duration: 100.000"] {
            #expect(status.contains(line), "\(line): \(status)")
        }
        #expect(!status.contains { $0.hasPrefix("volume") })
        let second = Int(try client.value("playlist", of: "status") ?? "") ?? 0
        #expect(second > first)
        let listed = try client.ask("playlistinfo")
        #expect(listed.contains("Title: Aria") && listed.contains("Artist: Bach") && listed.contains("Pos: 0"))
        #expect(try client.ask("plchanges \(first)") == listed)
        #expect(try client.ask("currentsong") == listed)
        let id = try client.value("songid", of: "status") ?? ""
        for line in ["clear", "delete 0", "add x.wav", "moveid \(id) 0", "shuffle"] {
            let answer = try client.ask(line)
            #expect(answer[0].hasPrefix("ACK [5"), "\(line): \(answer)")
        }
        #expect(try client.ask("clear")[0].hasPrefix("ACK [5@0] {clear} another player is active"))
        // The player itself is asked to pause.
        try client.send("pause 1")
        var request = try other.read()
        while request["method"]?.stringValue != "pause" { request = try other.read() }
        try other.send(
            JSONWriter.text(["jsonrpc": "2.0", "id": request["id"] ?? .null, "result": ["status": "success"]]) + "\n")
        #expect(try client.answer() == ["OK"])
        // `main` is a partition of its own meanwhile.
        #expect(try client.ask("listpartitions") == ["partition: default", "partition: main", "OK"])
        #expect(try client.ask("partition main") == ["OK"])
        #expect(try client.value("playlistlength", of: "status") == "2")
        #expect(try client.ask("partition default") == ["OK"])
        #expect(try client.value("playlistlength", of: "status") == "1")
        _ = try other.result("session.close", ["name": "air"])
        #expect(becomes { (try? client.value("playlistlength", of: "status")) == "2" })
        #expect(Int(try client.value("playlist", of: "status") ?? "") ?? 0 > second)
        #expect(try client.ask("clear") == ["OK"])
    }

    @Test("another player that stops leaves the queue that plays, which clients see and pause")
    func returns() async throws {
        let house = await MPDHouse.start(in: folder)
        let client = try house.client()
        #expect(try client.ask("add \(song("a.wav"))") == ["OK"])
        #expect(try client.ask("play") == ["OK"])
        let other = try house.daemonClient()
        _ = try other.result("session.create", ["name": "air", "external": true, "commands": ["play", "pause"]])
        for state in ["playing", "stopped"] {
            _ = try other.result(
                "nowPlaying.publish", ["session": "air", "state": .string(state), "item": ["title": "Aria"]])
            let title = state == "playing" ? "Aria" : "a"
            #expect(becomes { (try? client.value("Title", of: "currentsong")) == title })
        }
        #expect(becomes { (try? client.value("state", of: "status")) == "play" })
        #expect(try client.ask("pause 1") == ["OK"])
        #expect(try client.value("state", of: "status") == "pause")
        #expect(try client.ask("clear") == ["OK"])
    }

    @Test("partitions are made, entered, changed apart from each other, and deleted") func sessions() async throws {
        let house = await MPDHouse.start(in: folder)
        let (client, watcher) = (try house.client(), try house.client())
        try watcher.send("idle partition")
        #expect(try client.ask("newpartition kitchen") == ["OK"])
        #expect(try watcher.answer() == ["changed: partition", "OK"])
        #expect(try client.ask("newpartition kitchen") == ["ACK [56@0] {newpartition} name already exists"])
        #expect(try client.ask("newpartition \"a b\"") == ["ACK [2@0] {newpartition} bad name"])
        #expect(try client.ask("partition bath") == ["ACK [50@0] {partition} partition does not exist"])
        #expect(try client.ask("partition kitchen") == ["OK"])
        #expect(try client.value("partition", of: "status") == "kitchen")
        #expect(try client.ask("add \(song("a.wav"))") == ["OK"])
        #expect(try client.value("playlistlength", of: "status") == "1")
        #expect(try watcher.value("playlistlength", of: "status") == "0")
        #expect(try watcher.value("partition", of: "status") == "default")
        // Messages stay within a partition.
        #expect(try client.ask("subscribe c") == ["OK"])
        #expect(try watcher.ask("channels") == ["OK"])
        #expect(try client.ask("channels") == ["channel: c", "OK"])
        #expect(try watcher.ask("delpartition kitchen") == ["ACK [5@0] {delpartition} partition still has clients"])
        #expect(
            try watcher.ask("delpartition default")[0] == "ACK [5@0] {delpartition} cannot delete the default partition"
        )
        #expect(try client.ask("partition default") == ["OK"])
        #expect(try watcher.ask("delpartition kitchen") == ["OK"])
        #expect(try watcher.ask("delpartition kitchen") == ["ACK [50@0] {delpartition} no such partition"])
        #expect(try watcher.ask("listpartitions") == ["partition: default", "OK"])
    }

    @Test("a session that is closed elsewhere leaves its clients in the default partition") func gone() async throws {
        let house = await MPDHouse.start(in: folder)
        let client = try house.client()
        #expect(try client.ask("newpartition room") == ["OK"])
        #expect(try client.ask("partition room") == ["OK"])
        #expect(try client.ask("idle partition") == ["changed: partition", "OK"])
        try client.send("idle partition")
        _ = try house.daemonClient().result("session.close", ["name": "room"])
        #expect(try client.answer().first == "changed: partition")
        #expect(try client.value("partition", of: "status") == "default")
    }

    @Test("a partition is there again after a restart of the daemon") func restart() async throws {
        let house = await MPDHouse.start(in: folder)
        let client = try house.client()
        #expect(try client.ask("newpartition room") == ["OK"])
        #expect(try client.ask("partition room") == ["OK"])
        #expect(try client.ask("add \(song("a.wav"))") == ["OK"])
        house.daemon.signal(SIGTERM)
        #expect(house.daemon.wait() == 0)
        #expect(becomes { (try? client.value("error", of: "status")) != nil })
        let again = await LoopThread.run {
            MPDHouse.process(folder, "nowplayingd", ["--state-directory", folder.path("state"), "--output", "null"])
        }
        defer { again.end() }
        #expect(becomes { (try? client.value("playlistlength", of: "status")) == "1" })
        #expect(try client.value("partition", of: "status") == "room")
    }

    @Test("an address for announcements plays over the music, which goes on as it was") func announcements()
        async throws
    {
        let house = await MPDHouse.start("announce-bind = \(folder.path("announce.sock"))\n", in: folder)
        let music = try house.client()
        #expect(try music.ask("add \(song("music.wav", seconds: 600))") == ["OK"])
        #expect(try music.ask("play") == ["OK"])
        let watcher = try house.daemonClient()
        let voice = try LineClient(folder.path("announce.sock"))
        #expect(try voice.value("partition", of: "status") == "announce")
        for line in ["clear", "add \(song("bell.wav", seconds: 1))", "play"] { #expect(try voice.ask(line) == ["OK"]) }
        #expect(try voice.value("state", of: "status") == "play")
        let sessions = try watcher.result("session.list")["sessions"]?.arrayValue ?? []
        #expect(sessions.first { $0["name"] == "main" }?["active"] == true)
        #expect(sessions.first { $0["name"] == "announce" }?["state"] == "playing")
        #expect(sessions.first { $0["name"] == "announce" }?["policy"] == "duck")
        // The music plays on: same item, same queue.
        #expect(try music.value("state", of: "status") == "play")
        #expect(try music.value("playlistlength", of: "status") == "1")
        try voice.send("idle player")
        #expect(try voice.answer() == ["changed: player", "OK"])
        #expect(becomes { (try? voice.value("state", of: "status")) == "stop" })
        #expect(try music.value("state", of: "status") == "play")
        #expect(Double(try music.value("elapsed", of: "status") ?? "") ?? 0 > 0.9)
        // A second client shares the partition; by its name it can be entered, too.
        #expect(try music.ask("partition announce") == ["OK"])
        #expect(try music.value("playlistlength", of: "status") == "1")
        house.bridge.signal(SIGTERM)
        #expect(house.bridge.wait() == 0)
        #expect(becomes { (try? watcher.result("session.list")["sessions"]?.arrayValue?.count) == 1 })
    }
}

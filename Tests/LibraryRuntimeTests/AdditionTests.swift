import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing
import TrackDatabase

/// `library.add` at the real daemon: whole, in order, with the rights of the caller.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AdditionTests {
    private func songs() -> [LibraryHouse.Song] {
        [
            .init(place: "music/b/2.wav", title: "Second", artists: ["One", "Two"], number: 2),
            .init(place: "music/b/1.wav", title: "First", number: 1),
            .init(place: "music/é \"q\".wav", title: nil, artists: [], album: nil),
            .init(place: "private/secret.wav", title: "Secret", number: 3),
        ]
    }

    @Test func aFilterGoesIntoTheQueueInItsOrder() async throws {
        let house = LibraryHouse()
        try house.fill(songs())
        await house.startDaemon()
        await house.startLibrary()
        let client = try RawClient(house.librarySocket)
        let album: JSONValue = ["album": ["is": "An Album"]]
        let added = try client.call("library.add", ["filter": album, "sort": "trackNumber"])
        #expect(added["result"]?["count"] == 3 && added["result"]?["missing"] == nil, "\(added)")
        #expect(added["result"]?["firstId"]?.integerValue != nil && added["result"]?["version"] != nil)
        #expect(try house.queue() == ["First", "Second", "Secret"])
        #expect(try house.queue("artist") == ["An Artist", "One, Two", "An Artist"])
        // At an index, next, with play, and with the guard of the version, as queue.add has them.
        let first: JSONValue = ["trackNumber": ["is": 1]]
        #expect(try client.call("library.add", ["filter": first, "at": 1])["result"]?["count"] == 1)
        #expect(try house.queue() == ["First", "First", "Second", "Secret"])
        let late = try client.call("library.add", ["filter": first, "ifVersion": 1_000_000])
        #expect(late["error"]?["code"] == 200 && late["error"]?["data"]?["reason"] == "version", "\(late)")
        let far = try client.call("library.add", ["filter": first, "at": 1000])
        #expect(far["error"]?["data"]?["reason"] == "outOfRange", "\(far)")
        let nowhere = try client.call("library.add", ["filter": first, "session": "nobody"])
        #expect(nowhere["error"]?["code"] == 100 && nowhere["error"]?["data"]?["reason"] == "noSession", "\(nowhere)")
        #expect(try client.call("library.add", ["filter": first, "limit": 1, "play": true])["result"]?["count"] == 1)
        let state = try RawClient(house.daemonSocket).call("nowPlaying.get")["result"]
        #expect(state?["state"] == "playing" && state?["item"]?["title"] == "First", "\(String(describing: state))")
    }

    @Test func urisAreFilesPlacesAndAddresses() async throws {
        let house = LibraryHouse()
        try house.fill(songs())
        let other = house.folder.write(
            AudioMaterial.noise(frames: 800, sampleRate: 8000, channels: 1).wave(), "outside.wav")
        await house.startDaemon()
        await house.startLibrary()
        let client = try RawClient(house.librarySocket)
        let uris: JSONValue = [
            "music/b/1.wav", .string(house.folder.path("music/b/2.wav")), .string(other), "http://radio.invalid/a",
            .string(house.folder.path("music/é \"q\".wav")), "music/b/gone.wav",
        ]
        let added = try client.call("library.add", ["uris": uris])
        #expect(added["result"]?["count"] == 5 && added["result"]?["missing"] == 1, "\(added)")
        #expect(try house.queue() == ["First", "Second", "outside", "http://radio.invalid/a", "é \"q\""])
        #expect(try client.call("library.add", ["uris": ["nonsense"]]).errorCode == -32602)
        let none = try client.call("library.add", ["uris": ["music/b/gone.wav"]])
        #expect(none.errorCode == 200 && none["error"]?["data"]?["reason"] == "noMatch", "\(none)")
        #expect(none["error"]?["data"]?["missing"] == 1)
        // A file that went since the scan is left out.
        unlink(house.folder.path("music/b/1.wav"))
        let rest = try client.call("library.add", ["filter": ["album": ["is": "An Album"]]])
        #expect(rest["result"]?["count"] == 2 && rest["result"]?["missing"] == 1, "\(rest)")
        let empty = try client.call("library.add", ["filter": ["title": ["is": "no such"]]])
        #expect(empty.errorCode == 200 && empty["error"]?["data"]?["reason"] == "noMatch")
        #expect(try client.call("library.add", ["filter": ["titel": ["is": "a"]]]).errorCode == -32602)
        #expect(try client.call("library.add").errorCode == -32602)
    }

    @Test func withoutADaemonItSaysSo() async throws {
        let house = LibraryHouse()
        try house.fill(songs())
        await house.startLibrary()
        let client = try RawClient(house.librarySocket)
        let all: JSONValue = ["filter": ["all": []]]
        let none = try client.call("library.add", all)
        #expect(none.errorCode == 200 && none["error"]?["data"]?["reason"] == "noDaemon", "\(none)")
        #expect(none["error"]?["message"]?.stringValue?.contains("no daemon answers") == true)
        await house.startDaemon()
        #expect(try client.call("library.add", all)["result"]?["count"] == 4)
        // Killed in the middle: the request is in the daemon's socket, which never reads it.
        let daemon = try #require(house.process("nowplayingd"))
        daemon.signal(SIGSTOP)
        try client.request(7, "library.add", all)
        let other = try RawClient(house.librarySocket)
        #expect(try other.call("library.query")["result"]?["rows"]?.arrayValue?.count == 4)
        daemon.signal(SIGKILL)
        daemon.wait()
        let lost = try client.read()
        #expect(lost["id"] == 7 && lost["error"]?["data"]?["reason"] == "noDaemon", "\(lost)")
        await house.startDaemon()
        #expect(try client.call("library.add", all)["result"]?["count"] == 4)
    }

    @Test func requestsOfOneClientAreCarriedOutInTheirOrder() async throws {
        let house = LibraryHouse()
        try house.fill(songs())
        await house.startDaemon()
        await house.startLibrary()
        let client = try RawClient(house.librarySocket)
        let isFirst = (0..<60).map { $0 % 3 == 0 || $0 % 7 == 0 }
        for (index, isFirst) in isFirst.enumerated() {
            try client.request(index, "library.add", ["uris": [.string("music/b/\(isFirst ? 1 : 2).wav")]])
        }
        for index in isFirst.indices {
            let answer = try client.read()
            #expect(answer["id"]?.integerValue == Int64(index) && answer["result"]?["count"] == 1, "\(answer)")
        }
        #expect(try house.queue() == isFirst.map { $0 ? "First" : "Second" })
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become other users"))
    func anotherUserAddsWithItsOwnRights() async throws {
        let house = LibraryHouse()
        try house.fill(songs())
        let outside = house.folder.write([], "outside.wav")
        await house.startDaemon()
        await house.startLibrary()
        let events = try RawClient(house.daemonSocket)
        _ = try events.call("nowPlaying.subscribe", ["causes": ["queue", "play", "track"]])
        let answers = await house.stranger([
            ("hello", ["client": "phone"]), ("library.add", ["filter": ["all": []], "sort": "trackNumber"]),
            ("library.add", ["uris": [.string(house.folder.path("private/secret.wav"))]]),
            ("library.add", ["uris": [.string(outside)]]), ("library.add", ["uris": ["private/gone.wav"]]),
            ("library.add", ["uris": ["music/b/1.wav"]]),
        ])
        try #require(answers.count == 6, "\(answers)")
        #expect(answers[1]["result"]?["count"] == 3, "\(answers[1])")
        for index in 2...4 { #expect(answers[index].errorCode == 403, "\(answers[index])") }
        #expect(answers[5]["result"]?["count"] == 1)
        let queue = try house.queue()
        #expect(queue == ["First", "Second", "é \"q\"", "First"], "\(answers)")
        let event = try events.read()["params"]
        #expect(event?["by"]?["client"] == "phone" && event?["by"]?["uid"] == 65534, "\(String(describing: event))")
    }

    /// A hundred thousand tracks by night, a fifth of them by day.
    @Test func veryManyTracksComeAtOnce() async throws {
        let count = ScanHouse.isLong ? 100_000 : 20_000
        let house = LibraryHouse(isInMemory: true)
        let first = house.folder.write(
            AudioMaterial.noise(frames: 80, sampleRate: 8000, channels: 1).wave(), "music/0.wav")
        var songs: [LibraryHouse.Song] = []
        for number in 0..<count {
            if number > 0 { link(first, house.folder.path("music/\(number).wav")) }
            songs.append(
                .init(
                    place: "music/\(number).wav", title: "Title \(number)", artists: ["Artist \(number % 900)"],
                    album: "Album \(number / 12)", number: Int64(number % 12)))
        }
        try house.fill(songs)
        await house.startDaemon()
        await house.startLibrary()
        let client = try RawClient(house.librarySocket)
        let begin = EventLoop.now
        try client.request(1, "library.add", ["filter": ["all": []], "sort": ["-uri"]])
        // Others are answered meanwhile.
        let status = try RawClient(house.librarySocket).call("library.status")["result"]
        #expect(status?["tracks"] == .integer(Int64(count)))
        var answer: JSONValue?
        while answer == nil {
            do { answer = try client.read() } catch RawClient.Failure.timeout {}
        }
        let seconds = EventLoop.now.seconds(since: begin)
        #expect(answer?["result"]?["count"] == .integer(Int64(count)), "\(String(describing: answer))")
        print("library.add of \(count) tracks: \(seconds) s")
        let page = try RawClient(house.daemonSocket).call(
            "queue.list", ["offset": .integer(Int64(count - 10)), "limit": 10, "fields": ["title", "uri"]])["result"]
        #expect(page?["count"] == .integer(Int64(count)))
        let expected = songs.map(\.place).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.reversed().suffix(10)
        let found = page?["items"]?.arrayValue?.compactMap { $0["uri"]?.stringValue } ?? []
        #expect(found == expected.map { house.uri($0) })
    }

    /// With a paused daemon neither program wakes: no tick, no poll.
    @Test func atRestNothingWakes() async throws {
        let house = LibraryHouse()
        try house.fill(songs())
        await house.startDaemon()
        await house.startLibrary()
        let client = try RawClient(house.librarySocket)
        #expect(try client.call("library.add", ["filter": ["all": []], "play": true])["result"]?["count"] == 4)
        _ = try RawClient(house.daemonSocket).call("pause")
        _ = try client.call("library.subscribe")
        let library = try #require(house.process("nowplaying-library"))
        // The pause begins the pass of the identities, which a busy machine puts off as it has the lowest priority.
        #expect(becomes { (try? client.call("library.status")["result"]?["scan"]) == .null })
        // Two seconds after the last question the readers give their memory back, once. No other deadline is longer.
        #expect(standsStill(seconds: 3) { library.contextSwitches })
        #expect(hasNoRhythm { library.contextSwitches })
    }
}

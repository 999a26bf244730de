import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// Clients that speak something else, send too much, read nothing or guess passwords; others notice nothing of them.
@Suite(.timeLimit(.minutes(5)), .serialized) struct RobustnessTests {
    private let folder = TemporaryFolder()

    @Test("what is not MPD's protocol ends the connection, as in MPD") func otherProtocols() async throws {
        let house = await MPDHouse.start(in: folder)
        let long = [UInt8](repeating: UInt8(ascii: "a"), count: 17 << 10)
        let list = Array("command_list_begin\n".utf8) + Array(repeatElement("ping\n", count: 500_000).joined().utf8)
        let tooLong = "ACK [5@0] {} the command list is too long: send shorter ones"
        for (name, bytes, answer) in [
            ("HTTP", Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8), nil), ("TLS", [0x16, 0x03, 0x01, 0x0A], nil),
            ("zeros", [0, 0, 0, 0x0A], nil), ("an empty line", [0x0A], nil), ("an endless line", long, nil),
            ("a line of 17 KiB", long + [0x0A], nil), ("a list of 2 MiB", list, tooLong),
            ("idle in a list", Array("command_list_begin\nidle\n".utf8), nil),
            ("a command without a word", Array("a-b\n".utf8), "ACK [5@0] {} Invalid word character"),
        ] as [(String, [UInt8], String?)] {
            let client = try house.client()
            // The bridge may have ended the connection in the middle.
            try? client.send(bytes)
            if let answer { #expect(try client.line() == answer, "\(name)") }
            #expect(client.isEnded(), "\(name)")
        }
        #expect(try house.client().ask("ping") == ["OK"])
    }

    @Test("clients that stop in the middle of a line, or read nothing, cost others nothing") func halfOpen()
        async throws
    {
        let house = await MPDHouse.start(in: folder)
        let client = try house.client()
        let file = folder.silence("a.wav", seconds: 1)
        try client.send("command_list_begin")
        for _ in 0..<500 { try client.send("add \(file)") }
        #expect(try client.ask("command_list_end") == ["OK"])
        let half = try (0..<100).map { _ in
            let other = try LineClient(silent: house.socket)
            try other.send(Array("stat".utf8))
            return other
        }
        let greedy = try (0..<4).map { _ in
            let other = try LineClient(silent: house.socket)
            for _ in 0..<10 { try other.send("playlistinfo") }
            return other
        }
        let begin = EventLoop.now
        for _ in 0..<50 { #expect(try client.value("playlistlength", of: "status") == "500") }
        #expect(EventLoop.now.seconds(since: begin) < 5)
        // Each of them has its whole answer when it reads at last.
        try half[99].send("us")
        _ = try half[99].line()
        #expect(try half[99].answer().contains("playlistlength: 500"))
        _ = try greedy[3].line()
        for _ in 0..<10 { #expect(try greedy[3].answer().count { $0.hasPrefix("file: ") } == 500) }
    }

    @Test("requests that come faster than their answers are read are all answered") func pipelined() async throws {
        let house = await MPDHouse.start(in: folder)
        let client = try house.client()
        try client.send(Array(repeatElement("status\n", count: 3000).joined().utf8))
        for _ in 0..<3000 { #expect(try client.answer().last == "OK") }
    }

    @Test("wrong passwords are answered later each time; the right one gives its rights") func passwords() async throws
    {
        let house = await MPDHouse.start("password = orange@read\n  apple@read,player\n", in: folder)
        let client = try house.client()
        func seconds(_ line: String, _ answer: String) throws -> Double {
            let begin = EventLoop.now
            #expect(try client.ask(line) == [answer])
            return EventLoop.now.seconds(since: begin)
        }
        let wrong = "ACK [3@0] {password} incorrect password"
        #expect(try seconds("password x", wrong) >= 0.5)
        // Guesses at the same time are judged one after the other: after 1 s, 3 s and 7 s.
        let others = try (0..<3).map { _ in try house.client() }
        let begin = EventLoop.now
        for other in others { try other.send("password y") }
        for (other, least) in zip(others, [1.0, 3, 7]) {
            #expect(try other.answer() == [wrong])
            #expect(EventLoop.now.seconds(since: begin) >= least)
        }
    }

    @Test("a password gives its rights at once") func rights() async throws {
        let house = await MPDHouse.start("password = orange@read\n  apple@read,player\n", in: folder)
        let client = try house.client()
        let begin = EventLoop.now
        #expect(try client.ask("password orange") == ["OK"])
        #expect(EventLoop.now.seconds(since: begin) < 0.25)
        #expect(try client.ask("play") == ["ACK [4@0] {play} you don't have permission for \"play\""])
        #expect(try client.ask("notcommands").contains("command: play"))
        #expect(try client.ask("password apple") == ["OK"])
        #expect(try client.ask("play") == ["OK"])
    }

    @Test("too many connections are turned away, and those that exist stay") func limit() async throws {
        var descriptors = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &descriptors)
        descriptors.rlim_cur = min(descriptors.rlim_max, 4096)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &descriptors)
        let house = await MPDHouse.start(in: folder)
        let clients = try (0..<1000).map { _ in try house.client() }
        #expect(try LineClient(silent: house.socket).isEnded())
        for client in clients.prefix(3) + clients.suffix(3) { #expect(try client.ask("ping") == ["OK"]) }
    }

    @Test("paused, with 20 clients that wait, nothing wakes") func rest() async throws {
        let house = await MPDHouse.start(in: folder)
        let client = try house.client()
        #expect(try client.ask("add \(folder.silence("a.wav", seconds: 600))") == ["OK"])
        #expect(try client.ask("play") == ["OK"])
        #expect(try client.ask("pause 1") == ["OK"])
        let waiting = try (0..<20).map { _ in try house.client() }
        for other in waiting { try other.send("idle") }
        // All of them wait when the last one has come back from a change.
        #expect(try client.ask("subscribe x") == ["OK"])
        for other in waiting { #expect(try other.answer().last == "OK") }
        for other in waiting { try other.send("idle") }
        try client.send("idle")
        #expect(standsStill { house.bridge.contextSwitches })
        let before = house.bridge.contextSwitches
        await LoopThread.wait(seconds: 5)
        #expect(house.bridge.contextSwitches == before)
    }
}

import ControlProtocol
import Glibc
import TestSupport
import Testing
import WebAccess

/// WebSockets: the cases of the Autobahn suite that concern a server without extensions, and JSON-RPC in the frames.
@Suite(.timeLimit(.minutes(5)), .serialized) struct SocketTests {
    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }
    private static let clock = #"{"jsonrpc":"2.0","id":1,"method":"clock.now"}"#

    @Test("frames that break the protocol end the connection with the status of RFC 6455") func faults() async throws {
        let house = await WebHouse.start()
        let long = [UInt8](repeating: 0x20, count: 300_000)
        let part = [UInt8](repeating: 0x20, count: 65_536)
        let cases: [(name: String, bytes: [UInt8], status: Int)] = [
            ("a reserved bit", SocketClient.frame(0xC1, []), 1002),
            ("two reserved bits", SocketClient.frame(0xB1, []), 1002),
            ("opcode 3", SocketClient.frame(0x83, []), 1002), ("opcode 11", SocketClient.frame(0x8B, []), 1002),
            ("no mask", SocketClient.frame(0x81, [], mask: nil), 1002),
            ("a continuation of nothing", SocketClient.frame(0x80, [0x20]), 1002),
            ("a ping in parts", SocketClient.frame(0x09, []), 1002),
            ("a text in a text", SocketClient.frame(0x01, [0x20]) + SocketClient.frame(0x81, [0x20]), 1002),
            ("binary", SocketClient.frame(0x82, [1]), 1003),
            ("not UTF-8", SocketClient.frame(0x81, [0xCE, 0xBA, 0xED, 0xA0, 0x80]), 1007),
            ("an overlong code", SocketClient.frame(0x81, [0xC0, 0xAF]), 1007),
            ("half a character", SocketClient.frame(0x81, [0xF0, 0x9F]), 1007),
            ("half a character in parts", SocketClient.frame(0x01, [0xF0]) + SocketClient.frame(0x80, []), 1007),
            ("too long", SocketClient.frame(0x81, long), 1009),
            (
                "too long in parts",
                SocketClient.frame(0x01, part) + (0..<5).flatMap { _ in SocketClient.frame(0x00, part) }, 1009
            ),
            ("a status of one byte", SocketClient.frame(0x88, [3]), 1002),
            ("status 1005", SocketClient.frame(0x88, [0x03, 0xED]), 1002),
            ("status 999", SocketClient.frame(0x88, [0x03, 0xE7]), 1002),
            ("a reason that is not UTF-8", SocketClient.frame(0x88, [0x03, 0xE8, 0xFF]), 1007),
            ("status 1000", SocketClient.frame(0x88, [0x03, 0xE8]), 1000),
            ("status 4000", SocketClient.frame(0x88, [0x0F, 0xA0, 0x61]), 4000),
            ("no status", SocketClient.frame(0x88, []), 1005),
        ]
        for (name, bytes, status) in cases {
            let socket = try house.socket()
            #expect(socket.answer.status == 101)
            socket.web.send(bytes)
            #expect(socket.closingStatus() == status, "\(name)")
            #expect(socket.web.isEnded(), "\(name)")
        }
        #expect(try house.socket().call("clock.now")["result"] != nil)
    }

    @Test("a message has 256 fragments at most, however short they are") func fragments() async throws {
        let house = await WebHouse.start()
        let message = Self.text(Self.clock)
        for (count, isTaken) in [(256, true), (257, false), (5000, false)] {
            let socket = try house.socket()
            var bytes = SocketClient.frame(0x01, message)
            for _ in 0..<(count - 2) { bytes += SocketClient.frame(0x00, [0x20]) + SocketClient.frame(0x89, []) }
            socket.web.send(bytes + SocketClient.frame(0x80, [0x20]))
            var last = try socket.frame()
            while last.kind == 0x8A { last = try socket.frame() }
            #expect(last.kind == (isTaken ? 0x81 : 0x88), "\(count)")
            if !isTaken { #expect(last.bytes.starts(with: [3, 0xF1]), "\(last)") }
            // The next message counts anew.
            if isTaken { #expect(try socket.call("clock.now")["result"] != nil) }
        }
    }

    @Test("unfinished messages of one caller have a bound, which their ends give back; short ones always arrive")
    func unfinished() async throws {
        let house = await WebHouse.start()
        let part = [UInt8](repeating: 0x20, count: 200_000)
        func begin() throws -> SocketClient {
            let socket = try house.socket()
            socket.web.send(SocketClient.frame(0x01, part))
            return socket
        }
        // Each of them counts without its first 8 KiB.
        var sockets = try (0..<10).map { _ in try begin() }
        #expect(try begin().closingStatus() == 1013)
        #expect(try house.socket().call("clock.now")["result"] != nil)
        let request = ["Content-Type: application/json", "Content-Length: 200000"]
        #expect(try house.client().ask("POST", "/rpc", request).status == 429)
        sockets.removeLast(2)
        #expect(
            becomes {
                guard let socket = try? begin() else { return false }
                socket.web.send(SocketClient.frame(0x80, Self.text(Self.clock)))
                return (try? socket.message()["result"]) != nil
            })
    }

    @Test("messages in parts, with pings between them, byte by byte") func parts() async throws {
        let house = await WebHouse.start()
        let socket = try house.socket()
        let message = Self.text(Self.clock)
        var bytes = SocketClient.frame(0x01, Array(message[..<10])) + SocketClient.frame(0x89, [7])
        bytes += SocketClient.frame(0x00, []) + SocketClient.frame(0x80, Array(message[10...]))
        for byte in bytes { socket.web.send([byte]) }
        #expect(try socket.frame() == SocketClient.Frame(kind: 0x8A, bytes: [7]))
        #expect(try socket.message()["result"]?["received"] != nil)
        socket.web.send(SocketClient.frame(0x8A, [1]))
        #expect(try socket.call("clock.now", #"{"sent":1.5}"#)["result"]?["sent"] == 1.5)
    }

    @Test("a handshake and a frame in one packet") func early() async throws {
        let house = await WebHouse.start()
        let client = try house.client()
        let head = [
            "GET /rpc HTTP/1.1", "Host: localhost", "Connection: Upgrade", "Upgrade: websocket",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: nowplaying.1",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ]
        client.send(
            Self.text(head.joined(separator: "\r\n") + "\r\n\r\n") + SocketClient.frame(0x81, Self.text(Self.clock)))
        let answer = try client.answer()
        #expect(answer.status == 101)
        #expect(answer.headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(answer.headers["sec-websocket-protocol"] == "nowplaying.1")
        #expect(try client.take(1) == [0x81])
    }

    @Test("calls of the daemon and of the bridge, and what the network does not have") func calls() async throws {
        let house = await WebHouse.start()
        let socket = try house.socket()
        let hello = try socket.call("hello")["result"]
        #expect(hello?["role"] == "control")
        #expect(hello?["server"] == "nowplayingd")
        #expect(hello?["id"] == .string(BridgeIdentity.make()))
        #expect(try socket.call("nowPlaying.subscribe")["result"]?["state"] == "stopped")
        let set = try socket.call("volume.set", #"{"volume": 0.5}"#)
        // The event comes before the answer.
        #expect(set["params"]?["volume"] == 0.5)
        #expect(try socket.message()["result"]?["volume"] == 0.5)
        let names = try socket.call("rpc.discover")["result"]?["methods"]?.arrayValue?.compactMap {
            $0["name"]?.stringValue
        }
        #expect(Set(names ?? []).isSuperset(of: ["clock.now", "play", "library.search", "devices.list"]))
        #expect(try socket.call("devices.list")["result"]?["devices"] == [])
        for (method, parameters) in [
            ("daemon.quit", "{}"), ("nowPlaying.map", "{}"), ("nowPlaying.publish", "{}"),
            ("queue.add", #"{"items": [{"descriptor": 0}]}"#), ("artwork.get", #"{"id": "a", "descriptor": true}"#),
            ("hello", #"{"actsFor": {"uid": 0, "pid": 1, "client": "a"}}"#),
            ("session.create", #"{"name": "a", "external": true}"#),
        ] {
            #expect(try socket.call(method, parameters)["error"]?["code"] == 403, "\(method)")
        }
        #expect(try socket.call("nothing")["error"]?["code"] == -32601)
        socket.send("nothing")
        #expect(try socket.message()["error"]?["code"] == -32700)
        socket.send("[\(Self.clock)]")
        #expect(try socket.message()["error"]?["code"] == -32600)
        socket.send(#"[{"jsonrpc":"2.0","id":1,"method":"queue.list"},{"jsonrpc":"2.0","id":2,"method":"pause"}]"#)
        #expect(try socket.message().arrayValue?.count == 2)
    }

    @Test("a socket that gives up its rights sees and does less") func reading() async throws {
        let house = await WebHouse.start()
        let file = house.folder.silence("a.wav")
        #expect(try house.daemonClient().call("queue.add", ["items": [.string(file)]])["error"] == nil)
        let socket = try house.socket()
        #expect(try socket.call("queue.list")["result"]?["items"]?.arrayValue?.first?["uri"] != nil)
        #expect(try socket.call("hello", #"{"role":"read"}"#)["result"]?["role"] == "read")
        #expect(try socket.call("queue.list")["result"]?["items"]?.arrayValue?.first?["uri"] == nil)
        #expect(try socket.call("nowPlaying.get")["result"]?["by"] == nil)
        for method in ["pause", "diagnostics.get", "queue.clear"] {
            #expect(try socket.call(method)["error"]?["code"] == 403, "\(method)")
        }
        #expect(try socket.call("hello", #"{"role":"control"}"#)["result"]?["role"] == "read")
    }

    @Test("200 sockets hear of a change, and ten at rest cost no wakeup") func many() async throws {
        let house = await WebHouse.start()
        let sockets = try (0..<200).map { _ in try house.socket() }
        for socket in sockets { _ = try socket.call("nowPlaying.subscribe") }
        #expect(try house.daemonClient().call("volume.set", ["volume": 0.25])["error"] == nil)
        for socket in sockets { #expect(try socket.message()["params"]?["volume"] == 0.25) }
        for socket in sockets.dropFirst(10) { socket.web.send(SocketClient.frame(0x88, [])) }
        for socket in sockets.dropFirst(10) { #expect(socket.web.isEnded()) }
        #expect(house.bridge.sleepsForASecond)
    }

    @Test("a socket whose client reads nothing costs the others nothing") func slow() async throws {
        let house = await WebHouse.start()
        let slow = try house.socket()
        let request = #"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#
        // The bridge stops reading long before that.
        var flags = fcntl(slow.web.descriptor, F_GETFL)
        flags |= O_NONBLOCK
        _ = fcntl(slow.web.descriptor, F_SETFL, flags)
        for _ in 0..<20_000 where !slow.web.send(SocketClient.frame(0x81, Self.text(request))) { break }
        let other = try house.socket()
        for _ in 0..<50 { #expect(try other.call("clock.now")["result"] != nil) }
    }

    @Test("answers of the bridge itself wait for their client, and keep their order") func bounded() async throws {
        let house = await WebHouse.start()
        let socket = try house.socket()
        _ = try socket.call("hello")
        let before = house.bridge.memory
        // One piece of 64 requests, whose answers have some MB.
        let pieces = 16
        for piece in 0..<pieces {
            let frames = (0..<64).flatMap { number in
                SocketClient.frame(
                    0x81, Self.text(#"{"jsonrpc":"2.0","id":\#(piece * 64 + number),"method":"rpc.discover"}"#))
            }
            #expect(socket.web.send(frames))
        }
        // The bridge serves another client while this client does not read its answers.
        #expect(try house.socket().call("clock.now")["result"] != nil)
        #expect(house.bridge.memory < before + 4 << 20)
        for number in 0..<pieces * 64 { #expect(try socket.message()["id"] == .integer(Int64(number))) }
        // A command in the same piece as a farewell is carried out, and gets no answer.
        let request = #"{"jsonrpc":"2.0","method":"volume.set","params":{"volume":0.375}}"#
        #expect(socket.web.send(SocketClient.frame(0x81, Self.text(request)) + SocketClient.frame(0x88, [0x03, 0xE8])))
        #expect(socket.closingStatus() == 1000)
        let daemon = try house.daemonClient()
        #expect(becomes { (try? daemon.call("nowPlaying.get"))?["result"]?["volume"] == 0.375 })
    }

    @Test("the memory of clients that have left is given back") func memory() async throws {
        let house = await WebHouse.start()
        func visit() throws {
            let sockets = try (0..<200).map { _ in try house.socket() }
            for socket in sockets { _ = try socket.call("nowPlaying.subscribe") }
        }
        _ = try house.socket().call("nowPlaying.subscribe")
        let before = house.bridge.memory
        try visit()
        #expect(becomes { house.bridge.memory < before + 3 << 20 }, "\(before), \(house.bridge.memory)")
    }

    @Test("the end of the daemon ends its sockets, which come back with it") func restart() async throws {
        let house = await WebHouse.start()
        let socket = try house.socket()
        _ = try socket.call("hello")
        house.daemon.signal(SIGTERM)
        #expect(socket.closingStatus() == 1012)
        #expect(becomes { (try? house.socket().answer.status) == 503 })
    }

    @Test("the end of the library costs its own requests alone, and a subscription returns with it") func library()
        async throws
    {
        let folder = TemporaryFolder()
        mkdir(folder.path("music"), 0o755)
        let house = await WebHouse.start("[library]\nfolders = \(folder.path("music"))\n", in: folder)
        func start() async -> TestProcess {
            await LoopThread.run { WebHouse.process(folder, "nowplaying-library", [], log: folder.path("library.log")) }
        }
        var library = await start()
        let socket = try house.socket()
        _ = try socket.call("nowPlaying.subscribe")
        #expect(becomes { (try? socket.call("library.status"))?["result"] != nil })
        #expect(try socket.call("library.subscribe")["result"] != nil)

        // The first scan may still report.
        func answer() throws -> JSONValue {
            while true {
                let message = try socket.message()
                if message["method"] != "library.changed" { return message }
            }
        }
        func call(_ method: String, _ parameters: String = "{}") throws -> JSONValue {
            socket.send(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(parameters)}"#)
            return try answer()
        }

        // It answers nothing any more.
        library.signal(SIGSTOP)
        socket.send(#"{"jsonrpc":"2.0","id":"a","method":"library.status"}"#)
        socket.send(
            #"[{"jsonrpc":"2.0","id":7,"method":"library.status"},{"jsonrpc":"2.0","id":8,"method":"lists.list"}]"#)
        #expect(try call("clock.now")["result"] != nil)
        library.signal(SIGKILL)
        let lost = try answer()
        #expect(lost["id"] == "a" && lost["error"]?["data"]?["reason"] == "unavailable", "\(lost)")
        let batch = try answer().arrayValue ?? []
        #expect(batch.map { $0["id"] } == [7, 8] && batch.allSatisfy { $0["error"] != nil }, "\(batch)")
        #expect(try call("library.status")["error"]?["data"]?["reason"] == "unavailable")
        let event = try call("volume.set", #"{"volume": 0.5}"#)
        #expect(event["params"]?["volume"] == 0.5, "\(event)")
        #expect(try answer()["result"] != nil)

        library.end()
        library = await start()
        #expect(try socket.message()["method"] == "library.changed")
        #expect(try call("library.status")["result"] != nil)
        library.end()
    }
}

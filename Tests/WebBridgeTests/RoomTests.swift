import ControlProtocol
import Dispatch
import Synchronization
import TestSupport
import Testing

/// The rooms of a Snapcast server in nowplaying-web, with a server that is made up.
@Suite(.timeLimit(.minutes(5))) struct RoomTests {
    init() { LoopThread.start() }

    private static let news = #"{"jsonrpc":"2.0","method":"Client.OnConnect","params":{}}"# + "\r\n"

    private static func house(_ rooms: FakeRooms) async -> WebHouse {
        await WebHouse.start("snapcast-server = 127.0.0.1:\(rooms.port)\n")
    }

    /// The next notification of the rooms.
    private static func change(_ socket: SocketClient) throws -> JSONValue {
        let message = try socket.message()
        #expect(message["method"] == "rooms.changed", "\(message)")
        return message["params"] ?? .null
    }

    @Test("rooms are listed, followed and set; without a follower there is no connection") func life() async throws {
        let percent = Mutex<Int64>(50)
        let rooms = FakeRooms { method, parameters in
            if method == "Client.SetVolume" {
                percent.withLock { $0 = parameters["volume"]?["percent"]?.integerValue ?? 0 }
            }
            return .result(
                method == "Server.GetStatus" ? FakeRooms.status(["Bath"], percent: percent.withLock { $0 }) : [:])
        }
        let house = await Self.house(rooms)
        let socket = try house.socket()
        #expect(try socket.call("hello")["result"]?["capabilities"]?["rooms"] == true)
        #expect(rooms.connections == 0)
        let list = try socket.call("rooms.list")["result"]
        #expect(list?["available"] == true)
        let bath = list?["rooms"]?.arrayValue?.first
        #expect(bath?["id"] == "id0" && bath?["name"] == "Bath" && bath?["volume"]?.integerValue == 50)
        #expect(bath?["connected"] == true && bath?["host"] == nil && bath?["group"]?["id"] == "g0")
        #expect(becomes { rooms.open == 0 })
        #expect(try socket.call("rooms.subscribe")["result"] == list)
        #expect(rooms.open == 1)
        // The notification comes before the answer.
        let set = try socket.call("rooms.volume.set", #"{"id": "id0", "volume": 30}"#)
        #expect(set["params"]?["rooms"]?.arrayValue?.first?["volume"]?.integerValue == 30, "\(set)")
        #expect(try socket.message()["result"] == [:])
        percent.withLock { $0 = 70 }
        rooms.send(Self.news)
        #expect(try Self.change(socket)["rooms"]?.arrayValue?.first?["volume"]?.integerValue == 70)
        #expect(rooms.open == 1 && rooms.connections == 2)
        #expect(try socket.call("rooms.unsubscribe")["result"] == [:])
        #expect(becomes { rooms.open == 0 })
        // One request by POST.
        let post = try house.client().post(#"{"jsonrpc":"2.0","id":1,"method":"rooms.list"}"#)
        #expect(post.status == 200 && post.text.contains("Bath"), "\(post.text)")
        #expect(becomes { rooms.open == 0 })
        // The end of a follower ends the connection, too.
        let other = try house.socket()
        _ = try other.call("rooms.subscribe")
        #expect(rooms.open == 1)
        other.web.send(SocketClient.frame(0x88, []))
        #expect(becomes { rooms.open == 0 })
    }

    @Test("256 rooms of one group are some KiB, and a change sends the one that has changed") func many() async throws {
        let percent = Mutex<Int64>(50)
        let gone = Mutex(false)
        let rooms = FakeRooms { method, _ in
            guard method == "Server.GetStatus" else { return .result([:]) }
            let count = gone.withLock { $0 } ? 299 : 300
            let clients = (0..<count).map { number -> JSONValue in
                [
                    "id": .string(String(repeating: "i", count: 200) + "\(number)"), "connected": true,
                    "host": ["name": "box"],
                    "config": [
                        "name": .string("Room \(number)"), "latency": 0,
                        "volume": ["percent": .integer(number == 7 ? percent.withLock { $0 } : 50), "muted": false],
                    ],
                ]
            }
            let group: JSONValue = [
                "id": "all", "name": "", "muted": false, "stream_id": "music",
                "clients": .array(gone.withLock { $0 } ? Array(clients.dropFirst()) : clients),
            ]
            return .result(["server": ["groups": [group]]])
        }
        let house = await Self.house(rooms)
        let socket = try house.socket()
        socket.send(#"{"jsonrpc":"2.0","id":1,"method":"rooms.subscribe"}"#)
        let whole = try socket.frame().bytes
        #expect(whole.count < 128 << 10, "\(whole.count)")
        #expect(try JSONReader.read(whole)["result"]?["rooms"]?.arrayValue?.count == 256)
        percent.withLock { $0 = 30 }
        rooms.send(Self.news)
        let change = try socket.frame().bytes
        let news = try JSONReader.read(change)["params"]
        #expect(change.count < 1024 && news?["rooms"]?.arrayValue?.count == 1 && news?["whole"] == nil)
        #expect(news?["rooms"]?.arrayValue?.first?["volume"]?.integerValue == 30)
        gone.withLock { $0 = true }
        rooms.send(Self.news)
        let removal = try Self.change(socket)
        #expect(removal["removed"] == [.string(String(repeating: "i", count: 200) + "0")])
        // The next room in the order of the server takes the place.
        #expect(removal["rooms"]?.arrayValue?.map { $0["name"] } == ["Room 256"])
        rooms.stop()
        #expect(try Self.change(socket)["available"] == false)
    }

    @Test("a volume that comes during a look at the rooms keeps the mute before it") func order() async throws {
        let volume = Mutex<JSONValue>(["percent": 50, "muted": false])
        let looks = Mutex(0)
        let holds = DispatchSemaphore(value: 0)
        let rooms = FakeRooms { method, parameters in
            if method == "Client.SetVolume" { volume.withLock { $0 = parameters["volume"] ?? .null } }
            guard method == "Server.GetStatus" else { return .result([:]) }
            let number = looks.withLock { looks in
                looks += 1
                return looks
            }
            let now = volume.withLock { $0 }
            if number == 2 { holds.wait() }
            return .result(
                FakeRooms.status(
                    ["Bath"], percent: now["percent"]?.integerValue ?? 0, isMuted: now["muted"]?.boolValue ?? false))
        }
        let house = await Self.house(rooms)
        let socket = try house.socket()
        _ = try socket.call("rooms.subscribe")
        socket.send(#"{"jsonrpc":"2.0","method":"rooms.volume.set","params":{"id":"id0","muted":true}}"#)
        #expect(becomes { looks.withLock { $0 } == 2 })
        socket.send(#"{"jsonrpc":"2.0","method":"rooms.volume.set","params":{"id":"id0","volume":30}}"#)
        // The bridge has both.
        #expect(try socket.call("clock.now")["result"] != nil)
        holds.signal()
        #expect(becomes { volume.withLock { $0 } == ["percent": 30, "muted": true] })
    }

    @Test("a room whose client is gone is removed, and one that is connected is not") func removal() async throws {
        let names = Mutex(["Bath", "Attic"])
        let rooms = FakeRooms { method, parameters in
            if method == "Server.DeleteClient", parameters["id"] == "id1" { names.withLock { $0 = ["Bath"] } }
            let isQuestion = method == "Server.GetStatus"
            return .result(isQuestion ? FakeRooms.status(names.withLock { $0 }, gone: ["Attic"]) : [:])
        }
        let house = await Self.house(rooms)
        let socket = try house.socket()
        _ = try socket.call("rooms.subscribe")
        let refusal = try socket.call("rooms.remove", #"{"id": "id0"}"#)["error"]
        #expect(refusal?["data"]?["reason"] == "inUse", "\(refusal ?? .null)")
        #expect(!rooms.requests.contains("Server.DeleteClient"))
        // The notification comes before the answer.
        let change = try socket.call("rooms.remove", #"{"id": "id1"}"#)
        #expect(change["params"]?["removed"] == ["id1"] && change["params"]?["rooms"] == [], "\(change)")
        #expect(try socket.message()["result"] == [:])
        #expect(try socket.call("rooms.remove", #"{"id": "id1"}"#)["error"]?["code"] == 100)
    }

    @Test("wrong rooms and values, and the server's own refusal") func refusals() async throws {
        let rooms = FakeRooms { method, _ in
            method == "Server.GetStatus"
                ? .result(FakeRooms.status(["Bath", "Kitchen"])) : .refusal("not\u{1B}[31m me")
        }
        let house = await Self.house(rooms)
        let socket = try house.socket()
        for (method, parameters) in [
            ("rooms.volume.set", "{}"), ("rooms.volume.set", #"{"id": "id0"}"#),
            ("rooms.volume.set", #"{"id": "id0", "volume": 101}"#),
            ("rooms.configure", #"{"id": "id0", "latency": 1.5}"#),
            ("rooms.configure", #"{"id": "id0", "join": "id1", "leave": true}"#), ("rooms.list", #"{"x": 1}"#),
        ] {
            #expect(try socket.call(method, parameters)["error"]?["code"] == -32602, "\(method) \(parameters)")
        }
        #expect(rooms.connections == 0)
        #expect(try socket.call("rooms.volume.set", #"{"id": "id7", "volume": 1}"#)["error"]?["code"] == 100)
        #expect(try socket.call("rooms.configure", #"{"id": "id0", "join": "id7"}"#)["error"]?["code"] == 100)
        let refusal = try socket.call("rooms.configure", #"{"id": "id0", "latency": 5}"#)["error"]
        #expect(refusal?["data"]?["reason"] == "refused", "\(refusal ?? .null)")
        #expect(becomes { rooms.open == 0 })
    }

    @Test("a server that goes and comes back") func outage() async throws {
        let rooms = FakeRooms { _, _ in .result(FakeRooms.status(["Bath"])) }
        let house = await Self.house(rooms)
        let socket = try house.socket()
        #expect(try socket.call("rooms.subscribe")["result"]?["available"] == true)
        rooms.stop()
        let gone = try Self.change(socket)
        #expect(gone["available"] == false && gone["problem"] == "unreachable" && gone["rooms"] == [])
        let set = try socket.call("rooms.volume.set", #"{"id": "id0", "volume": 1}"#)["error"]
        #expect(set?["data"]?["reason"] == "noAnswer", "\(set ?? .null)")
        let again = FakeRooms(port: rooms.port) { _, _ in .result(FakeRooms.status(["Bath"])) }
        #expect(try Self.change(socket)["available"] == true)
        again.stop()
    }

    @Test(
        "a server that sends no Snapcast, too much, or nothing",
        arguments: [
            ("nonsense\n", "strange"), (#"{"jsonrpc":"2.0","id":1,"result":{}}"# + "\n", "strange"),
            (String(repeating: "x", count: 5 << 20), "unreachable"), ("", "noAnswer"),
        ]) func nonsense(_ bytes: String, _ problem: String) async throws
    {
        let rooms = FakeRooms { _, _ in bytes.isEmpty ? .nothing : .bytes(Array(bytes.utf8)) }
        let house = await Self.house(rooms)
        let socket = try house.socket()
        let answer = try socket.call("rooms.list")["result"]
        #expect(answer?["available"] == false && answer?["problem"]?.stringValue == problem, "\(answer ?? .null)")
        #expect(becomes { rooms.open == 0 })
        #expect(try socket.call("clock.now")["result"] != nil)
    }

    @Test("news without end keep nobody busy") func flood() async throws {
        let rooms = FakeRooms { _, _ in .result(FakeRooms.status(["Bath"])) }
        let house = await Self.house(rooms)
        let socket = try house.socket()
        _ = try socket.call("rooms.subscribe")
        rooms.send(String(repeating: Self.news, count: 100_000))
        // The page is answered; the server counts as silent if its answers lie behind too much news.
        for _ in 0..<20 {
            var message = try socket.call("clock.now")
            while message["method"] != nil { message = try socket.message() }
            #expect(message["result"] != nil)
        }
        let asked = rooms.requests.count
        #expect(asked < 200, "\(asked)")
    }

    @Test("hostile and long texts, and more rooms than there may be") func hostile() async throws {
        let names = ["<img src=x onerror=alert(1)>", String(repeating: "長", count: 5000)] + (0..<500).map { "r\($0)" }
        let rooms = FakeRooms { _, _ in .result(FakeRooms.status(names)) }
        let house = await Self.house(rooms)
        let socket = try house.socket()
        let list = try socket.call("rooms.list")["result"]?["rooms"]?.arrayValue ?? []
        #expect(list.count == 256 && list.first?["name"]?.stringValue == names[0])
        #expect(list[1]["name"]?.stringValue?.count == 128)
    }

    @Test("without a Snapcast server there are no rooms; the role read sets none") func rights() async throws {
        let house = await WebHouse.start()
        let socket = try house.socket()
        let hello = try socket.call("hello", #"{"role": "read"}"#)["result"]
        #expect(hello?["capabilities"]?["rooms"] == nil)
        for method in ["rooms.list", "rooms.subscribe"] {
            #expect(try socket.call(method)["error"]?["data"]?["reason"] == "disabled")
        }
        for (method, parameters) in [
            ("rooms.volume.set", #"{"id": "a", "volume": 1}"#), ("rooms.configure", #"{"id": "a"}"#),
            ("rooms.remove", #"{"id": "a"}"#),
        ] {
            #expect(try socket.call(method, parameters)["error"]?["code"] == 403)
        }
        let remote = try house.socket()
        _ = try remote.call("hello", #"{"role": "remote"}"#)
        #expect(try remote.call("rooms.configure", #"{"id": "a", "latency": 1}"#)["error"]?["code"] == 403)
        #expect(try remote.call("rooms.remove", #"{"id": "a"}"#)["error"]?["code"] == 403)
        let volume = try remote.call("rooms.volume.set", #"{"id": "a", "volume": 1}"#)["error"]
        #expect(volume?["data"]?["reason"] == "disabled", "\(volume ?? .null)")
    }
}

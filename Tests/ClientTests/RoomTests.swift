import ControlProtocol
import SnapcastControl
import Testing

/// Rooms of a Snapcast server that names anything.
@Suite struct RoomTests {
    @Test("a name of one endless character has an end, and so has a group") func hostileServer() throws {
        let endless = "a" + String(repeating: "\u{301}", count: 100_000)
        let clients = (0..<1000).map { number -> JSONValue in
            ["id": .string("room \(number)"), "config": ["name": .string(number == 0 ? endless : "Bath")]]
        }
        let group: JSONValue = ["id": "all", "name": .string(endless), "clients": .array(clients)]
        let status: JSONValue = ["server": ["groups": [group]]]
        let rooms = try #require(Room.all(status))
        #expect(rooms.count == Room.maximumCount)
        #expect(rooms[0].name.unicodeScalars.count == 128 && rooms[0].group.name.unicodeScalars.count == 128)
        #expect(rooms[0].json["group"]?["id"] == "all")
        // A change of the group keeps all of its rooms.
        var alone = RoomChange()
        alone.place = .alone
        let call = try #require(alone.calls(rooms[0], in: rooms)?.first)
        #expect(call.parameters["clients"]?.arrayValue?.count == 999)
    }

    @Test("the daemon and doctor are no rooms while they ask") func questions() throws {
        func client(_ id: String, _ host: String, _ isConnected: Bool) -> JSONValue {
            ["id": .string(id), "host": ["name": .string(host)], "connected": .bool(isConnected)]
        }
        let clients = [
            client("nowplayingd-12-345", "nowplayingd", true), client("nowplayingctl-12", "nowplayingctl", true),
            // One that stayed can be removed, and a machine may have the name.
            client("nowplayingd-6-7", "nowplayingd", false), client("00:11", "nowplayingd", true),
        ]
        let rooms = Room.all(["server": ["groups": [["id": "g", "clients": .array(clients)]]]])
        #expect(try #require(rooms).map(\.id) == ["nowplayingd-6-7", "00:11"])
    }

    @Test("the daemon names its server by a value, and not by the words of a description") func server() {
        func address(_ server: JSONValue, name: String = "snapcast") -> ControlAddress? {
            let output: JSONValue = [
                "name": .string(name), "description": "Snapcast at elsewhere:4953", "server": server,
            ]
            return ControlAddress(outputs: ["outputs": [["name": "other"], output]])
        }
        // The port there is that of the daemon's source.
        #expect(address(["host": "box.lan", "port": 4000]) == ControlAddress("box.lan"))
        #expect(address(["host": "fe80::1", "port": 4953]) == ControlAddress("fe80::1"))
        #expect(address(["host": "box.lan", "port": 4953], name: "pulse") == nil)
        for host in ["", "a b", "a\u{1B}[31m", "ü", String(repeating: "a", count: 256)] {
            #expect(address(["host": .string(host), "port": 4953]) == nil)
        }
        #expect(address(.null) == nil && address("box.lan") == nil)
    }
}

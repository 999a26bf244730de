import ControlProtocol
import NowPlayingClient

/// A client of a Snapcast server: a room.
struct Room: Equatable {
    /// Id at the server.
    let id: String
    /// The name that people gave it, or that of its machine.
    let name: String
    /// Name of its machine.
    let host: String
    let isConnected: Bool
    /// 0 to 100.
    let percent: Int
    let isMuted: Bool
    /// Milliseconds by which it plays earlier than others.
    let latency: Int
    let group: Group

    /// Rooms that play the same stream.
    struct Group: Equatable {
        /// Id at the server.
        let id: String
        /// The name that people gave it; empty: none.
        let name: String
        let isMuted: Bool
        /// Name of its stream.
        let stream: String
        /// Ids of its rooms.
        let members: [String]
    }

    /// Rooms of the answer to `Server.GetStatus`, group by group, in the order of the server.
    static func all(_ status: JSONValue) -> [Room] {
        (status["server"]?["groups"]?.arrayValue ?? []).flatMap { entry in
            let clients = entry["clients"]?.arrayValue ?? []
            let group = Group(
                id: entry["id"]?.stringValue ?? "", name: entry["name"]?.stringValue ?? "",
                isMuted: entry["muted"]?.boolValue ?? false, stream: entry["stream_id"]?.stringValue ?? "",
                members: clients.compactMap { $0["id"]?.stringValue })
            return clients.compactMap { Room($0, group) }
        }
    }

    private init?(_ client: JSONValue, _ group: Group) {
        guard let id = client["id"]?.stringValue else { return nil }
        self.id = id
        self.group = group
        host = client["host"]?["name"]?.stringValue ?? ""
        let given = client["config"]?["name"]?.stringValue ?? ""
        name = !given.isEmpty ? given : !host.isEmpty ? host : id
        isConnected = client["connected"]?.boolValue ?? false
        percent = Int(clamping: client["config"]?["volume"]?["percent"]?.integerValue ?? 0)
        isMuted = client["config"]?["volume"]?["muted"]?.boolValue ?? false
        latency = Int(clamping: client["config"]?["latency"]?.integerValue ?? 0)
    }

    /// For `--json`.
    var json: JSONValue {
        [
            "id": .string(id), "name": .string(name), "host": .string(host), "connected": .bool(isConnected),
            "volume": .integer(Int64(percent)), "muted": .bool(isMuted), "latency": .integer(Int64(latency)),
            "group": [
                "id": .string(group.id), "name": .string(group.name), "muted": .bool(group.isMuted),
                "stream": .string(group.stream), "rooms": .array(group.members.map { .string($0) }),
            ],
        ]
    }

    /// The room that a person means: by its number in the list from 1, its id, or a name that it alone has, as the server has
    /// it or as the list shows it.
    static func named(_ text: String, in rooms: [Room]) throws(Failure) -> Room {
        if let room = rooms.first(where: { $0.id == text }) { return room }
        let named = rooms.filter { $0.name == text || TerminalText.safe($0.name) == text }
        if named.count == 1 { return named[0] }
        let shown = TerminalText.safe(text)
        if named.count > 1 {
            throw Failure(.noSuchContent, "\(named.count) rooms have the name \"\(shown)\"; use an id or a number")
        }
        if let number = ClockText.integer(text), number >= 1, number <= rooms.count { return rooms[number - 1] }
        throw Failure(.noSuchContent, "no room \"\(shown)\"; see: nowplayingctl rooms")
    }
}

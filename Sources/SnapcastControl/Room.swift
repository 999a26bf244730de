package import ControlProtocol

/// A client of a Snapcast server: a room.
package struct Room: Equatable, Sendable {
    /// Id at the server.
    package let id: String
    /// The name that people gave it, or that of its machine.
    package let name: String
    /// Name of its machine.
    package let host: String
    package let isConnected: Bool
    /// 0 to 100.
    package let percent: Int
    package let isMuted: Bool
    /// Milliseconds by which it plays earlier than others.
    package let latency: Int
    package let group: Group

    /// Rooms that play the same stream.
    package struct Group: Equatable, Sendable {
        /// Id at the server.
        package let id: String
        /// The name that people gave it; empty: none.
        package let name: String
        package let isMuted: Bool
        /// Name of its stream.
        package let stream: String
        /// Ids of its rooms.
        package let members: [String]
    }

    /// Most rooms of a server.
    package static let maximumCount = 256
    /// Most Unicode scalars of a text that the server names: a character may have any number of them.
    private static let maximumText = 128
    /// Most bytes of an id.
    private static let maximumID = 256

    /// Rooms of the answer to `Server.GetStatus`, group by group, in the order of the server; nil: it is no such answer.
    package static func all(_ status: JSONValue) -> [Room]? {
        guard let groups = status["server"]?["groups"]?.arrayValue else { return nil }
        let rooms = groups.flatMap { entry in
            let clients = entry["clients"]?.arrayValue ?? []
            let group = Group(
                id: text(entry["id"]), name: text(entry["name"]), isMuted: entry["muted"]?.boolValue ?? false,
                stream: text(entry["stream_id"]), members: clients.compactMap { id($0) })
            return clients.compactMap { Room($0, group) }
        }
        return Array(rooms.prefix(maximumCount))
    }

    private init?(_ client: JSONValue, _ group: Group) {
        guard let id = Self.id(client), !Self.isQuestion(client, id) else { return nil }
        self.id = id
        self.group = group
        host = Self.text(client["host"]?["name"])
        let given = Self.text(client["config"]?["name"])
        name = !given.isEmpty ? given : !host.isEmpty ? host : id
        isConnected = client["connected"]?.boolValue ?? false
        let volume = client["config"]?["volume"]
        percent = max(0, min(100, Int(clamping: volume?["percent"]?.integerValue ?? 0)))
        isMuted = volume?["muted"]?.boolValue ?? false
        latency = Int(clamping: client["config"]?["latency"]?.integerValue ?? 0)
    }

    private static func id(_ client: JSONValue) -> String? {
        client["id"]?.stringValue.flatMap { (1...maximumID).contains($0.utf8.count) ? $0 : nil }
    }

    /// True for the daemon or `doctor`, which ask as a client does and stay for an instant.
    private static func isQuestion(_ client: JSONValue, _ id: String) -> Bool {
        guard client["connected"] == true, let host = client["host"]?["name"]?.stringValue else { return false }
        return ["nowplayingd", "nowplayingctl"].contains(host) && id.hasPrefix(host + "-")
    }

    private static func text(_ value: JSONValue?) -> String {
        String(String.UnicodeScalarView((value?.stringValue ?? "").unicodeScalars.prefix(maximumText)))
    }

    /// The room as programs get it, without the name of its machine. Rooms of one group have the same id of it.
    package var json: JSONObject {
        JSONObject([
            .init("id", .string(id)), .init("name", .string(name)), .init("connected", .bool(isConnected)),
            .init("volume", .integer(Int64(percent))), .init("muted", .bool(isMuted)),
            .init("latency", .integer(Int64(latency))),
            .init(
                "group",
                [
                    "id": .string(group.id), "name": .string(group.name), "muted": .bool(group.isMuted),
                    "stream": .string(group.stream),
                ]),
        ])
    }
}

package import ControlProtocol

/// A wish for a room; nil: that stays as it is.
package struct RoomChange: Equatable, Sendable {
    /// A request to the server.
    package struct Call: Equatable, Sendable {
        package let method: String
        package let parameters: JSONValue
    }

    /// Place of the room among the others.
    package enum Place: Equatable, Sendable {
        /// The group of that room, by its id.
        case with(String)
        /// A group of its own.
        case alone
    }

    package var name: String?
    /// 0 to 100.
    package var percent: Int?
    package var isMuted: Bool?
    /// Milliseconds by which the room plays earlier than others, in `latencies`.
    package var latency: Int?
    package var place: Place?
    /// Name of the stream that the group of the room plays.
    package var stream: String?
    /// For all rooms of the group.
    package var isGroupMuted: Bool?
    /// True: the server forgets the room with all of its settings. Nothing else of the change counts.
    package var isRemoved = false

    /// Milliseconds that a room may have.
    package static let latencies = -10_000...10_000

    /// No change.
    package init() {}

    /// False for the removal of a room that is connected: it would go on playing, and be in no list.
    package func isPossible(_ room: Room) -> Bool { !(isRemoved && room.isConnected) }

    /// Requests that make the change. Nil: the room of `place` is not among `rooms`.
    package func calls(_ room: Room, in rooms: [Room]) -> [Call]? {
        let client = JSONObject([.init("id", .string(room.id))])
        if isRemoved { return [Call(method: "Server.DeleteClient", parameters: .object(client))] }
        var calls: [Call] = []
        func add(_ method: String, _ object: JSONObject, _ name: String, _ value: JSONValue) {
            var object = object
            object[name] = value
            calls.append(Call(method: method, parameters: .object(object)))
        }
        if let name { add("Client.SetName", client, "name", .string(name)) }
        if let latency { add("Client.SetLatency", client, "latency", .integer(Int64(latency))) }
        if percent != nil || isMuted != nil {
            let volume: JSONValue = [
                "percent": .integer(Int64(percent ?? room.percent)), "muted": .bool(isMuted ?? room.isMuted),
            ]
            add("Client.SetVolume", client, "volume", volume)
        }
        var group = room.group
        var members: [String]?
        switch place {
        case .with(let id):
            guard let other = rooms.first(where: { $0.id == id }) else { return nil }
            group = other.group
            if !group.members.contains(room.id) { members = group.members + [room.id] }
        case .alone:
            let rest = group.members.filter { $0 != room.id }
            if !rest.isEmpty { members = rest }
        case nil: break
        }
        let object = JSONObject([.init("id", .string(group.id))])
        if let members { add("Group.SetClients", object, "clients", .array(members.map { .string($0) })) }
        if let stream { add("Group.SetStream", object, "stream_id", .string(stream)) }
        if let isGroupMuted { add("Group.SetMute", object, "mute", .bool(isGroupMuted)) }
        return calls
    }
}

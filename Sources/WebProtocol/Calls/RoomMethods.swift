package import ControlProtocol

/// The methods of nowplaying-web for the rooms of a Snapcast server.
package enum RoomMethods {
    /// The notification of a change of the rooms.
    package static let changed = "rooms.changed"

    /// Names on the wire.
    package enum Name: String, Sendable, CaseIterable {
        case list = "rooms.list"
        case subscribe = "rooms.subscribe"
        case unsubscribe = "rooms.unsubscribe"
        case setVolume = "rooms.volume.set"
        case configure = "rooms.configure"
        case remove = "rooms.remove"
    }

    private static let result =
        "available, which is false with a problem (unreachable, noAnswer or strange) while the server does not answer; and "
        + "rooms, each with id, name, connected, volume from 0 to 100, muted, latency in milliseconds, and its group: id, "
        + "name, muted and stream, the same for all of its rooms"
    private static let room = Parameter.required("id", .text, "id of a room")

    /// All of them.
    package static let methods: [Method] = [
        Method(
            name: Name.list.rawValue, kind: .output, role: .read, reach: .network(.read), parameters: [], isHeld: false,
            help: "Lists the rooms of the Snapcast server to which the daemon plays, or that the configuration names.",
            result: result, example: "{}"),
        Method(
            name: Name.subscribe.rawValue, kind: .output, role: .read, reach: .network(.read), parameters: [],
            isHeld: false,
            help: "Returns the rooms, and sends \(changed) after each change from now on: the rooms that have changed, "
                + "and in removed the ids of those that are gone; with whole, all of them. "
                + "nowplaying-web is connected to the Snapcast server only while a client has this subscription.",
            result: result, example: "{}"),
        Method(
            name: Name.unsubscribe.rawValue, kind: .output, role: .read, reach: .network(.read), parameters: [],
            isHeld: false,
            help: "Ends these notifications.", result: "an empty object", example: "{}"),
        Method(
            name: Name.setVolume.rawValue, kind: .output, role: .remote, reach: .network(.remote),
            parameters: [
                room, .optional("volume", .integer(0...100), "volume of the room"),
                .optional("muted", .boolean, "mutes the room"),
                .optional("groupMuted", .boolean, "mutes all rooms of its group"),
            ], anyOf: ["volume", "muted", "groupMuted"], isHeld: false,
            help: "Sets the volume of a room.", result: "an empty object", example: #"{"id": "bath", "volume": 40}"#),
        Method(
            name: Name.configure.rawValue, kind: .output, role: .control, reach: .network(.control),
            parameters: [
                room, .optional("name", .text, "another name of the room"),
                .optional("latency", .integer(-10_000...10_000), "milliseconds by which it plays earlier than others"),
                .optional("join", .text, "id of a room in whose group it plays"),
                .optional("leave", .boolean, "true: it plays in a group of its own"),
                .optional("stream", .text, "stream of the server that its group plays"),
            ], exclusive: [["join", "leave"], ["stream", "leave"]],
            anyOf: ["name", "latency", "join", "leave", "stream"], isHeld: false,
            help: "Sets the name, the latency, the group or the stream of a room.", result: "an empty object",
            example: #"{"id": "bath", "join": "kitchen"}"#),
        Method(
            name: Name.remove.rawValue, kind: .output, role: .control, reach: .network(.control), parameters: [room],
            isHeld: false,
            help: "Removes a room that is not connected, with its settings. It fails while the client of the room is "
                + "connected, and one that comes back later is a new room.",
            result: "an empty object", example: #"{"id": "bath"}"#),
    ]
}

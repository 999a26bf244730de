import ControlProtocol
import NowPlaying

/// A request of the server to its control script. Specification: Snapcast, doc/json_rpc_api/stream_plugin.md.
struct PluginRequest: Equatable, Sendable {
    /// The requested action.
    enum Action: Equatable, Sendable {
        /// Return the properties of the stream.
        case properties
        /// Call a method of the daemon.
        case call(method: String, parameters: JSONObject)
    }

    /// The server's id of the request.
    let id: JSONValue
    let action: Action

    /// A request that cannot be carried out.
    struct Refusal: Error, Equatable {
        let id: JSONValue
        /// Code of JSON-RPC.
        let code: Int
        /// For people.
        let message: String
    }

    /// Reads a line; nil: the line is not a request that needs an answer.
    init?(_ line: [UInt8]) throws(Refusal) {
        guard let message = try? JSONReader.read(line), let id = message["id"],
            let method = message["method"]?.stringValue
        else { return nil }
        self.id = id
        let parameters = message["params"]?.objectValue ?? JSONObject()
        switch method {
        case "Plugin.Stream.Player.GetProperties": action = .properties
        case "Plugin.Stream.Player.Control":
            let command = parameters["command"]?.stringValue ?? ""
            guard let call = Self.command(command, parameters["params"]?.objectValue ?? JSONObject()) else {
                throw Refusal(id: id, code: -32602, message: "unknown command “\(command.prefix(64))”")
            }
            action = call
        case "Plugin.Stream.Player.SetProperty":
            guard let member = parameters.members.first, let call = Self.property(member.name, member.value) else {
                throw Refusal(id: id, code: -32602, message: "unknown property, or a value of another kind")
            }
            action = call
        case _: throw Refusal(id: id, code: -32601, message: "unknown method “\(method.prefix(64))”")
        }
    }

    private static let plain = [
        "play": "play", "pause": "pause", "playpause": "togglePlayPause", "stop": "stop", "next": "nextTrack",
        "previous": "previousTrack",
    ]

    /// Servers write names with a capital or a small first letter, depending on their version.
    private static func command(_ name: String, _ parameters: JSONObject) -> Action? {
        func number(_ wanted: String) -> Double? {
            let found = parameters.members.first { $0.name.lowercased() == wanted }?.value.doubleValue
            return found.flatMap { $0.isFinite ? $0 : nil }
        }
        let name = name.lowercased()
        if let method = plain[name] { return .call(method: method, parameters: JSONObject()) }
        switch name {
        case "seek":
            guard let offset = number("offset") else { return nil }
            // 0.001 s is the daemon's least interval.
            let interval = max(0.001, TimeLimit.bounded(abs(offset)))
            return .call(
                method: offset < 0 ? "skipBackward" : "skipForward",
                parameters: JSONObject([.init("interval", .number(interval))]))
        case "setposition":
            guard let position = number("position") else { return nil }
            return .call(
                method: "changePlaybackPosition",
                parameters: JSONObject([.init("position", .number(TimeLimit.bounded(position)))]))
        case _: return nil
        }
    }

    private static func property(_ name: String, _ value: JSONValue) -> Action? {
        func call(_ method: String, _ members: JSONObject.Member...) -> Action {
            .call(method: method, parameters: JSONObject(members))
        }
        switch name {
        case "volume":
            guard let percent = value.doubleValue, percent.isFinite else { return nil }
            let volume = max(0, min(100, percent)) / 100
            // Servers before 0.27 have no other way to unmute.
            let unmutes: [JSONObject.Member] = volume > 0 ? [.init("muted", false)] : []
            return .call(method: "volume.set", parameters: JSONObject([.init("volume", .number(volume))] + unmutes))
        case "mute": return value.boolValue.map { call("volume.set", .init("muted", .bool($0))) }
        case "shuffle":
            return value.boolValue.map { call("changeShuffleMode", .init("mode", $0 ? "items" : "off")) }
        case "loopStatus":
            return value.stringValue.flatMap(StreamProperties.repeatMode).map {
                call("changeRepeatMode", .init("mode", .string($0)))
            }
        case "rate":
            guard let rate = value.doubleValue, rate.isFinite else { return nil }
            return rate > 0 ? call("changePlaybackRate", .init("rate", .number(rate))) : call("pause")
        case _: return nil
        }
    }
}

import ControlProtocol
import NowPlayingClient
import SnapcastControl

extension Room {
    /// For `--json`: the room with the name of its machine.
    var fullJSON: JSONValue {
        var object = json
        object["host"] = .string(host)
        return .object(object)
    }

    /// The room with this number in the list (from 1), this id, or this unique name. The name may be the server's or the
    /// list's.
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
